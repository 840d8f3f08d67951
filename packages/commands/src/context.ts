// The dependencies of every workflow.
import { DomainError } from '@paylog/domain/errors'
import type { EventStore } from '@paylog/event-store/eventStore'
import type { Provider } from '@paylog/providers/provider'

export type Workflow = {
  readonly store: EventStore
  /** The enabled providers by id. */
  readonly providers: ReadonlyMap<string, Provider>
  readonly now: () => Date
}

/** @throws DomainError `provider_not_enabled` */
export function enabledProvider({ providers }: Pick<Workflow, 'providers'>, id: string): Provider {
  const provider = providers.get(id)
  if (provider) return provider
  throw new DomainError('provider_not_enabled', 'This provider is unknown or not enabled', {
    enabled: [...providers.keys()],
  })
}

/**
 * A provider that can do what a request needs.
 * @param capability for the message: what it does not support
 * @throws DomainError `provider_not_enabled`, with the enabled providers that can
 */
export function providerFor<Can extends Provider>(
  workflow: Pick<Workflow, 'providers'>,
  id: string,
  capability: string,
  can: (provider: Provider) => provider is Can,
): Can {
  const provider = enabledProvider(workflow, id)
  if (can(provider)) return provider
  throw new DomainError('provider_not_enabled', `${id} does not support ${capability}; choose another provider`, {
    enabled: [...workflow.providers.values()].filter(can).map((each) => each.id),
  })
}
