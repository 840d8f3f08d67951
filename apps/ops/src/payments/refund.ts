// `payments refund` gives money back.
import { createHash, randomUUIDv7 } from 'node:crypto'
import { refundPayment } from '@paylog/commands/payments/refundPayment'
import { derivedId } from '@paylog/domain/derivedId'
import { RefundReason } from '@paylog/domain/payments/events'
import { existingPayment } from '@paylog/domain/payments/payment'
import { type RefundResource, refundResource } from '@paylog/domain/payments/refunds'
import { operatorMetadata } from '../auditTrail.ts'
import { UsageError } from '../command.ts'
import { defineCommand } from '../defineCommand.ts'
import { oneOf, text, withDefault } from '../options.ts'
import { amountOption, note, openWorkflow, readPaymentId } from './providerWorkflow.ts'
import { amountText } from './resultText.ts'

export const paymentsRefund = defineCommand({
  summary: 'Refund a payment, or a part of it',
  args: ['ID'],
  options: {
    'amount-cents': amountOption('all that is left'),
    reason: withDefault(oneOf('R', RefundReason.enum, RefundReason.enum.join(', ')), 'other'),
    note: note('for the record; not sent to the provider'),
    key: text('KEY', 'any text: the same command with the same key makes one refund, however often it runs'),
  },
  audited: 'audit-reason',
  json: 'one object: the refund',
  about: [
    'Exits with 1 when the refund was not made; the message has the error code. After provider_outcome_unknown the refund',
    'stays pending, and the worker or `payments refresh` finds out what became of it. Only with the same key is it safe to',
    'repeat the command then.',
  ],
  async run({ args, options, open, audit }) {
    const payment_id = readPaymentId(args[0])
    const { 'amount-cents': amount_cents, reason, note = null } = options
    const identity = identityOf(options.key, payment_id, [amount_cents, reason, note])
    const workflow = await openWorkflow(open)
    const metadata = operatorMetadata()
    const details = { refund_id: identity.refund_id, amount_cents: amount_cents ?? null, reason }
    await audit({ action: 'refund_payment', target: { kind: 'payment', id: payment_id }, details }, metadata)
    const request = { amount_cents, reason, note, ...identity, payment_id, metadata }
    const refunded = await refundPayment(workflow, request)
    const refund = refundResource(existingPayment(refunded.state), refunded.refund)
    return { json: refund, text: refundLine(refund) }
  },
})

/** The id of the refund follows from the key. @throws UsageError */
function identityOf(key: string | undefined, payment_id: string, request: readonly unknown[]) {
  if (key === undefined) return { refund_id: randomUUIDv7(), request_fingerprint: null }
  if (key === '' || key.length > 255) throw new UsageError('--key must have 1 to 255 characters')
  return {
    refund_id: derivedId('operator', 'refund', payment_id, key),
    request_fingerprint: createHash('sha256').update(JSON.stringify(request)).digest('hex'),
  }
}

function refundLine({ id, payment_id, amount_cents, currency, status }: RefundResource): string {
  const amount = amount_cents === null ? 'an unknown amount' : amountText(amount_cents, currency)
  return `Refund ${id} of payment ${payment_id} is ${status}: ${amount}`
}
