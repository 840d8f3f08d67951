// `payments cancel`, `capture` and `refresh` change one payment at its provider.
import { paymentChangeRoutes } from '@paylog/commands/payments/changeRoutes'
import { amountText } from '@paylog/domain/currency'
import type { PaymentResource } from '@paylog/domain/payments/resource'
import { defineCommand, type Result, type Run } from '../defineCommand.ts'
import { amountOption, note, readPaymentId } from './paymentOptions.ts'

type PaymentCall = Pick<Run, 'open' | 'api'> & { readonly args: readonly [string] }

const json = 'one object: the payment, as in GET /admin/payments/{id}'
const aboutExit =
  'Exits with 1 when that is not possible, or the provider cannot be asked; the message has the error code.'

export const paymentsCancel = defineCommand({
  summary: 'Cancel a payment at its provider',
  args: ['ID'],
  options: { reason: note('for the history; not sent to the provider') },
  audited: 'audit-reason',
  json,
  about: [
    'For a payment that is pending, failed but could still be paid, or authorized and not captured. It may be repeated.',
    aboutExit,
  ],
  run: (call) => change(call, 'cancel', { reason: call.options.reason ?? null }),
})

export const paymentsCapture = defineCommand({
  summary: 'Capture an authorized payment',
  args: ['ID'],
  options: { 'amount-cents': amountOption('all that is authorized') },
  audited: 'reason',
  json,
  about: ['A payment is captured once. What is not captured is released.', aboutExit],
  run: (call) => change(call, 'capture', { amount_cents: call.options['amount-cents'] }),
})

export const paymentsRefresh = defineCommand({
  summary: 'Ask the provider about one payment, and record what it says',
  args: ['ID'],
  audited: 'reason',
  json,
  about: [
    'Also finishes calls with an unknown outcome, captures an approved order, and replaces a hosted page that has expired.',
    aboutExit,
  ],
  run: (call) => change(call, 'refresh'),
})

/** Changes a payment by its route. */
async function change({ args: [id], open, api }: PaymentCall, act: string, body?: object): Promise<Result> {
  const call = await api(paymentChangeRoutes({ workflow: await open.workflow() }))
  const payment = await call<PaymentResource>('POST', `/payments/${readPaymentId(id)}/${act}`, body && { body })
  return { json: payment, text: paymentLine(payment) }
}

/** One line: the status, and the money that has moved or may. */
function paymentLine(payment: PaymentResource): string {
  const { id, status, currency } = payment
  const amounts = [
    ['received', payment.amount_received_cents],
    ['refunded', payment.amount_refunded_cents],
    ['capturable', payment.amount_capturable_cents],
  ] as const
  const moved = amounts.flatMap(([name, cents]) => (cents === 0 ? [] : [`, ${amountText(cents, currency)} ${name}`]))
  return `Payment ${id} is ${status}: ${amountText(payment.amount_cents, currency)}${moved.join('')}`
}
