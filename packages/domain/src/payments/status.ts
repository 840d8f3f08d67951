// The five statuses of a payment.
import { type Static, Type } from 'typebox'

export const PaymentStatus = Type.Enum(['pending', 'processing', 'succeeded', 'failed', 'canceled'])
export type PaymentStatus = Static<typeof PaymentStatus>

/** Statuses that are never left. `failed` is not one of them: a declined attempt may be followed by a successful one. */
export function isAbsorbing(status: PaymentStatus): boolean {
  return status === 'succeeded' || status === 'canceled'
}
