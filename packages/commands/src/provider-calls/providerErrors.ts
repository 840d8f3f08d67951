// Maps provider errors to the API's error codes.
import { DomainError } from '@paylog/domain/errors'
import type { RejectionCode } from '@paylog/domain/payments/events'
import type { ProviderError, ProviderErrorKind } from '@paylog/providers/provider'

/** Codes for calls that definitely had no effect. */
export const providerErrorCodes = {
  declined: 'payment_declined',
  rejected: 'provider_rejected',
  currency: 'currency_not_supported',
  unavailable: 'provider_unavailable',
} as const satisfies Record<Exclude<ProviderErrorKind, 'unknown'>, RejectionCode>

/** The error for a request that can simply be repeated. */
export function toDomainError(error: ProviderError): DomainError {
  const { kind, message } = error
  if (kind !== 'unknown') return new DomainError(providerErrorCodes[kind], message, undefined, { cause: error })
  return new DomainError(
    'provider_outcome_unknown',
    'The provider did not respond; send the same request again',
    undefined,
    { cause: error },
  )
}
