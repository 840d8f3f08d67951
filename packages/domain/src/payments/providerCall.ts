// A call that changes something at the provider, and how far it has come: creating, capturing and canceling the intent, and
// each refund.
import { DomainError } from '../errors.ts'
import { erasedMessage, type PaymentEvent, type RejectionCode } from './events.ts'

export type ProviderCall = {
  /** `open`: its end is not recorded. After `throttled` and `unknown` the same call is made again. */
  readonly outcome: 'open' | 'throttled' | 'unknown' | 'done' | 'rejected'
  readonly started_at: string
  /** Set exactly when it was rejected. */
  readonly rejection: { readonly code: RejectionCode; readonly message: string } | null
}

export type CallFailed = Extract<PaymentEvent, { type: 'ProviderCallFailed' }>['data']

export const startedCall = (started_at: string): ProviderCall => ({ outcome: 'open', started_at, rejection: null })

export const doneCall = (started_at: string): ProviderCall => ({ outcome: 'done', started_at, rejection: null })

export function failedCall<Call extends ProviderCall>(
  call: Call,
  { outcome, error_code, failure_message }: CallFailed,
) {
  const rejection = { code: error_code ?? 'provider_rejected', message: failure_message ?? erasedMessage }
  return { ...call, outcome, rejection: outcome === 'rejected' ? rejection : null }
}

/** Whether the call is over. The reconciler finishes any other. */
export function hasEnded({ outcome }: ProviderCall): boolean {
  return outcome === 'done' || outcome === 'rejected'
}

/** Whether a call that has not ended may have had an effect. */
export function mayHaveEffect({ outcome }: ProviderCall): boolean {
  return outcome === 'open' || outcome === 'unknown'
}

/** Whether the payment has failed with this call, because its intent was not created. */
export function isCreateRejected({ call, outcome }: Pick<CallFailed, 'call' | 'outcome'>): boolean {
  return call === 'create' && outcome === 'rejected'
}

/** The error for the caller of a call that is not done. */
export function callError({ outcome, rejection }: ProviderCall, details: Record<string, string>): DomainError {
  if (rejection) return new DomainError(rejection.code, rejection.message, details)
  return outcome === 'throttled'
    ? new DomainError('provider_unavailable', 'The provider is throttling requests; try again', details)
    : new DomainError('provider_outcome_unknown', 'The provider did not respond; the outcome is not known yet', details)
}
