// The payment of ours that an object of PayPal's names as the one it is for.
import { Id } from '@paylog/domain/fields'
import { Compile } from 'typebox/compile'
import { valueAt } from './notificationText.ts'

const uuid = Compile(Id)

/** @param object an order, a capture, a refund, or a transaction of a dispute, which calls it otherwise */
export function referencedPaymentId(object: unknown): string | null {
  const found =
    valueAt(object, 'custom_id') ?? valueAt(object, 'purchase_units', 0, 'custom_id') ?? valueAt(object, 'custom')
  return uuid.Check(found) ? found : null
}
