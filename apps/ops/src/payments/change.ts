// `payments cancel`, `capture` and `refresh` change one payment at its provider.

import type { IntendedAction } from '@paylog/commands/auditTrail'
import type { Workflow } from '@paylog/commands/context'
import { cancelPayment, capturePayment } from '@paylog/commands/payments/intentCalls'
import { shownPayment } from '@paylog/commands/payments/readPayment'
import { createRefresh } from '@paylog/commands/payments/refreshPayment'
import type { EventMetadata } from '@paylog/domain/events'
import type { PaymentState } from '@paylog/domain/payments/payment'
import type { PaymentResource } from '@paylog/domain/payments/resource'
import type { LoadedState } from '@paylog/event-store/eventStore'
import { operatorMetadata } from '../auditTrail.ts'
import { defineCommand, type Result, type Run } from '../defineCommand.ts'
import { amountOption, note, openWorkflow, readPaymentId } from './providerWorkflow.ts'
import { amountText } from './resultText.ts'

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
  async run(call) {
    const payment_id = readPaymentId(call.args[0])
    const { reason = null } = call.options
    return await change(call, { action: 'cancel_payment', target: paymentTarget(payment_id) }, (workflow, metadata) =>
      cancelPayment(workflow, { payment_id, metadata, reason }),
    )
  },
})

export const paymentsCapture = defineCommand({
  summary: 'Capture an authorized payment',
  args: ['ID'],
  options: { 'amount-cents': amountOption('all that is authorized') },
  audited: 'reason',
  json,
  about: ['A payment is captured once. What is not captured is released.', aboutExit],
  async run(call) {
    const payment_id = readPaymentId(call.args[0])
    const amount_cents = call.options['amount-cents']
    const details = { amount_cents: amount_cents ?? null }
    const auditedAction = { action: 'capture_payment', target: paymentTarget(payment_id), details } as const
    return await change(call, auditedAction, (workflow, metadata) =>
      capturePayment(workflow, { payment_id, metadata, amount_cents }),
    )
  },
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
  async run(call) {
    const payment_id = readPaymentId(call.args[0])
    return await change(call, { action: 'refresh_payment', target: paymentTarget(payment_id) }, (workflow, metadata) =>
      createRefresh(workflow)(payment_id, metadata),
    )
  },
})

const paymentTarget = (id: string) => ({ kind: 'payment', id })

/** Changes a payment, once that is recorded in the audit trail. */
async function change(
  { open, audit }: Run,
  auditedAction: IntendedAction,
  act: (workflow: Workflow, metadata: EventMetadata) => Promise<LoadedState<PaymentState>>,
): Promise<Result> {
  const workflow = await openWorkflow(open)
  const metadata = operatorMetadata()
  await audit(auditedAction, metadata)
  const { state } = await act(workflow, metadata)
  const payment = await shownPayment(workflow.store, state)
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
