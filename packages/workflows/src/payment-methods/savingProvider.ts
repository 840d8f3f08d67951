// A provider that can keep payment methods.
import { DomainError } from '@paylog/domain/errors'
import type { ProviderMethods } from '@paylog/providers/provider'
import type { Workflow } from '../context.ts'
import { enabledProvider } from '../payments/providerCall.ts'

export type SavingProvider = { readonly id: string; readonly methods: ProviderMethods }

/** @throws DomainError `provider_not_enabled`, with those that are and can */
export function savingProvider(workflow: Workflow, providerId: string): SavingProvider {
  const { id, methods } = enabledProvider(workflow, providerId)
  if (methods) return { id, methods }
  throw new DomainError('provider_not_enabled', `${id} keeps no payment methods; choose another provider`, {
    enabled: [...workflow.providers.values()].filter((each) => each.methods).map((each) => each.id),
  })
}
