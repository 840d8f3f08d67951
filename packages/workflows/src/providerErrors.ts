// What a caller is told when a provider did not do what it was asked for.
import { DomainError } from '@paylog/domain/errors'
import type { ProviderError } from '@paylog/providers/provider'

/** The codes of what surely did not happen. */
export const providerErrorCodes = {
  declined: 'payment_declined',
  rejected: 'provider_rejected',
  currency: 'currency_not_supported',
  unavailable: 'provider_unavailable',
} as const

/** What the caller of a request is told that leaves nothing behind but its answer. */
export function toDomainError(error: ProviderError): DomainError {
  const { kind, message } = error
  if (kind !== 'unknown') return new DomainError(providerErrorCodes[kind], message, undefined, { cause: error })
  return new DomainError(
    'provider_outcome_unknown',
    'The provider did not answer; the same request may be sent again',
    undefined,
    { cause: error },
  )
}
