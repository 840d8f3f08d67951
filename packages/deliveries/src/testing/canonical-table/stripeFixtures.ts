// Stripe's event objects with all members Stripe sends, one for each row of the canonical table.
import { type ApiShape, invoiceBody, subscriptionBody } from '@paylog/testing/stripe/billing'
import { customerBody, methodBody } from '@paylog/testing/stripe/bodies'
import {
  chargeBody,
  disputeBody,
  type IntentStatus,
  intentBody,
  refundBody,
} from '@paylog/testing/stripe/paymentBodies'

/** Unix seconds; `occurred_at` is the same time in ISO 8601. */
export const created = 1_767_268_800
export const occurred_at = '2026-01-01T12:00:00.000Z'
const periodEnd = created + 30 * 24 * 60 * 60
export const current_period_end = '2026-01-31T12:00:00.000Z'

/** An intent created by another system of the merchant. */
export function foreignIntent(status: IntentStatus, more: object = {}) {
  const intent = intentBody(
    { amount: 500, currency: 'eur', customer: 'cus_F1', receipt_email: 'bo@example.com' },
    created,
  )
  return { ...intent, id: 'pi_F1', status, amount_received: status === 'succeeded' ? 500 : 0, ...more }
}

const charge = () => chargeBody(foreignIntent('succeeded'), 'succeeded', created)

/** A charge after a full refund. */
export const refundedCharge = () => ({ ...charge(), amount_refunded: 500, refunded: true })
export const refund = () => refundBody(charge(), { amount: 500 }, created)
export const dispute = () => disputeBody(charge(), 500, created)
export const paidCharge = charge

export const subscription = (status: string, shape: ApiShape) =>
  subscriptionBody({ id: 'sub_F1', customer: 'cus_F1', status, created, current_period_end: periodEnd, shape })

export const invoice = (shape: ApiShape, more: Parameters<typeof invoiceBody>[0] = {}) => ({
  ...invoiceBody({
    subscription: 'sub_F1',
    customer: 'cus_F1',
    customer_email: 'bo@example.com',
    created,
    shape,
    ...more,
  }),
  id: 'in_F1',
})

export const customer = () => ({
  ...customerBody({ email: 'bo@example.com', name: 'Bo Example' }, created),
  id: 'cus_F1',
})

export const method = (customer: string | null) => ({ ...methodBody({}, created), id: 'pm_F1', customer })
