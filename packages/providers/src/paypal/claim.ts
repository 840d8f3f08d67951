// The payment of ours that an object of PayPal's names as the one it is for.
import { Id } from '@paylog/domain/fields'
import { Compile } from 'typebox/compile'
import { at } from './notificationText.ts'

const uuid = Compile(Id)

/** @param object an order, a capture, a refund, or a transaction of a dispute, which calls it otherwise */
export function claimedPayment(object: unknown): string | null {
  const claimed = at(object, 'custom_id') ?? at(object, 'purchase_units', 0, 'custom_id') ?? at(object, 'custom')
  return uuid.Check(claimed) ? claimed : null
}
