// `payments refund` gives money back.
import { createHash, randomUUIDv7 } from 'node:crypto'
import { derivedId } from '@paylog/domain/derivedId'
import { RefundReason } from '@paylog/domain/payments/events'
import { existingPayment } from '@paylog/domain/payments/payment'
import { type RefundResource, refundResource } from '@paylog/domain/payments/refunds'
import { refundPayment } from '@paylog/workflows/payments/refundPayment'
import { Value } from 'typebox/value'
import { readAuditReason } from '../audit.ts'
import { type CliCommand, readArguments, UsageError } from '../command.ts'
import { type PaymentDeed, readAmount, readNote, readPaymentId, withWorkflow } from './providerWorkflow.ts'
import { amountText } from './resultText.ts'

const reasons = RefundReason.enum.join('|')

export const paymentsRefund: CliCommand = {
  usage: `ID [--amount-cents N] [--reason ${reasons}] [--note TEXT] [--audit-reason TEXT] [--key KEY] [--json]`,
  summary: 'Refund a payment, or a part of it',
  details: [
    '  --amount-cents N     in minor units; all that is left without it',
    '  --reason R           other without it',
    '  --note TEXT          for the record; not sent to the provider',
    '  --audit-reason TEXT  why, for the audit trail; no personal data of payers',
    '  --key KEY            any text: the same command with the same key makes one refund, however often it runs',
    '  --json               one object: the refund',
    '',
    'Exits with 1 when the refund was not made; the message has the error code. After provider_outcome_unknown the refund',
    'stays pending, and the worker or `payments refresh` finds out what became of it. Only with the same key is it safe to',
    'repeat the command then.',
  ].join('\n'),
  async run(args, context) {
    const { values, positionals } = readArguments(args, ['ID'], {
      'amount-cents': { type: 'string' },
      reason: { type: 'string' },
      note: { type: 'string' },
      'audit-reason': { type: 'string' },
      key: { type: 'string' },
      json: { type: 'boolean' },
    })
    const payment_id = readPaymentId(positionals[0])
    const amount_cents = readAmount(values['amount-cents'])
    const reason = readReason(values.reason)
    const note = readNote('--note', values.note)
    const request = { amount_cents, reason, note, ...identityOf(values.key, payment_id, [amount_cents, reason, note]) }
    const deed: PaymentDeed = {
      action: 'refund_payment',
      payment_id,
      reason: readAuditReason(values['audit-reason'], '--audit-reason'),
      details: { refund_id: request.refund_id, amount_cents: amount_cents ?? null, reason },
    }
    const refund = await withWorkflow(context, deed, async (workflow, metadata) => {
      const refunded = await refundPayment(workflow, { ...request, payment_id, metadata })
      return refundResource(existingPayment(refunded.state), refunded.refund)
    })
    await context.print(values.json ? JSON.stringify(refund) : refundLine(refund))
  },
}

function readReason(text = 'other'): RefundReason {
  if (Value.Check(RefundReason, text)) return text
  throw new UsageError(`--reason must be one of ${RefundReason.enum.join(', ')}`)
}

/** The id of the refund follows from the key. @throws UsageError */
function identityOf(key: string | undefined, payment_id: string, request: readonly unknown[]) {
  if (key === undefined) return { refund_id: randomUUIDv7(), request_fingerprint: null }
  if (key === '' || key.length > 255) throw new UsageError('--key must have 1 to 255 characters')
  return {
    refund_id: derivedId('operator', 'refund', payment_id, key),
    request_fingerprint: createHash('sha256').update(JSON.stringify(request)).digest('hex'),
  }
}

const refundLine = ({ id, payment_id, amount_cents, currency, status }: RefundResource) =>
  `Refund ${id} of payment ${payment_id} is ${status}: ${amountText(amount_cents, currency)}`
