// Which provider a request is for.
import { DomainError } from '@paylog/domain/errors'
import type { Provider } from '@paylog/providers/provider'

/**
 * The provider that a body asks for; it may be left out when only one is enabled.
 * @throws DomainError `invalid_request` when it is left out and several are enabled
 */
export function chosenProviderId(
  body: { readonly provider_id?: string },
  providers: ReadonlyMap<string, Provider>,
): string {
  if (body.provider_id !== undefined) return body.provider_id
  const [only, ...others] = providers.keys()
  if (only !== undefined && others.length === 0) return only
  throw new DomainError('invalid_request', 'provider_id is required', {
    fields: [{ field: 'provider_id', message: 'is required' }],
    enabled: [...providers.keys()],
  })
}
