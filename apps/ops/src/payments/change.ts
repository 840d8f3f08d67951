// `payments cancel`, `capture` and `refresh` change one payment at its provider.
import type { EventMetadata } from '@paylog/domain/events'
import type { PaymentState } from '@paylog/domain/payments/payment'
import type { PaymentResource } from '@paylog/domain/payments/resource'
import type { LoadedState } from '@paylog/event-store/eventStore'
import type { Workflow } from '@paylog/workflows/context'
import { cancelPayment, capturePayment } from '@paylog/workflows/payments/intentCalls'
import { shownPayment } from '@paylog/workflows/payments/readPayment'
import { createRefresh } from '@paylog/workflows/payments/refreshPayment'
import { readAuditReason, reasonOption } from '../audit.ts'
import { type CliCommand, type CommandContext, readArguments } from '../command.ts'
import { type PaymentDeed, readAmount, readNote, readPaymentId, withWorkflow } from './providerWorkflow.ts'
import { amountText } from './resultText.ts'

const json = { json: { type: 'boolean' } } as const
const aboutReason = '  --reason TEXT     why, for the audit trail; no personal data of payers'
const aboutJson = '  --json            one object: the payment, as in GET /admin/payments/{id}'
const aboutExit =
  'Exits with 1 when that is not possible, or the provider cannot be asked; the message has the error code.'

export const paymentsCancel: CliCommand = {
  usage: 'ID [--reason TEXT] [--audit-reason TEXT] [--json]',
  summary: 'Cancel a payment at its provider',
  details: [
    '  --reason TEXT     for the history; not sent to the provider',
    '  --audit-reason TEXT',
    '                    why, for the audit trail; no personal data of payers',
    aboutJson,
    '',
    'For a payment that is pending, failed but could still be paid, or authorized and not captured. It may be repeated.',
    aboutExit,
  ].join('\n'),
  async run(args, context) {
    const options = { ...reasonOption, 'audit-reason': { type: 'string' }, ...json } as const
    const { values, positionals } = readArguments(args, ['ID'], options)
    const payment_id = readPaymentId(positionals[0])
    const reason = readNote('--reason', values.reason)
    const auditReason = readAuditReason(values['audit-reason'], '--audit-reason')
    const deed = { action: 'cancel_payment', payment_id, reason: auditReason } as const
    await change(context, values, deed, (workflow, metadata) =>
      cancelPayment(workflow, { payment_id, metadata, reason }),
    )
  },
}

export const paymentsCapture: CliCommand = {
  usage: 'ID [--amount-cents N] [--reason TEXT] [--json]',
  summary: 'Capture an authorized payment',
  details: [
    '  --amount-cents N  in minor units; all that is authorized without it. The rest is released',
    aboutReason,
    aboutJson,
    '',
    'A payment is captured once.',
    aboutExit,
  ].join('\n'),
  async run(args, context) {
    const { values, positionals } = readArguments(args, ['ID'], {
      'amount-cents': { type: 'string' },
      ...reasonOption,
      ...json,
    })
    const payment_id = readPaymentId(positionals[0])
    const amount_cents = readAmount(values['amount-cents'])
    const details = { amount_cents: amount_cents ?? null }
    const deed = { action: 'capture_payment', payment_id, details, reason: readAuditReason(values.reason) } as const
    await change(context, values, deed, (workflow, metadata) =>
      capturePayment(workflow, { payment_id, metadata, amount_cents }),
    )
  },
}

export const paymentsRefresh: CliCommand = {
  usage: 'ID [--reason TEXT] [--json]',
  summary: 'Ask the provider about one payment, and record what it says',
  details: [
    aboutReason,
    aboutJson,
    '',
    'Also finishes calls with an unknown outcome, captures an approved order, and replaces a hosted page that has expired.',
    aboutExit,
  ].join('\n'),
  async run(args, context) {
    const { values, positionals } = readArguments(args, ['ID'], { ...reasonOption, ...json })
    const payment_id = readPaymentId(positionals[0])
    const deed = { action: 'refresh_payment', payment_id, reason: readAuditReason(values.reason) } as const
    await change(context, values, deed, (workflow, metadata) => createRefresh(workflow)(payment_id, metadata))
  },
}

/** Changes a payment, and prints it. @throws OpsError */
async function change(
  context: CommandContext,
  { json }: { readonly json?: boolean | undefined },
  deed: PaymentDeed,
  act: (workflow: Workflow, metadata: EventMetadata) => Promise<LoadedState<PaymentState>>,
): Promise<void> {
  const payment = await withWorkflow(context, deed, async (workflow, metadata) => {
    const { state } = await act(workflow, metadata)
    return shownPayment(workflow.store, state)
  })
  await context.print(json ? JSON.stringify(payment) : paymentLine(payment))
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
