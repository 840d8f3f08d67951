// What an Idempotency-Key is answered that came before: with another request, or with one that is still being worked on.
import { DomainError } from './errors.ts'

/**
 * @param first what is on record of the request that the key came with first
 * @param request_fingerprint of the one that it comes with now
 * @throws DomainError `idempotency_key_reused` when they are not the same
 */
export function requireSameRequest(
  first: { readonly request_fingerprint: string | null },
  request_fingerprint: string | null,
): void {
  if (first.request_fingerprint !== request_fingerprint)
    throw new DomainError('idempotency_key_reused', 'This Idempotency-Key was used with another request')
}

/** @param details what the caller may ask about meanwhile */
export function keyInFlight(details?: { readonly payment_id: string }): DomainError {
  return new DomainError(
    'idempotency_key_in_flight',
    'The first request with this key is still being worked on',
    details,
  )
}
