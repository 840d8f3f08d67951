// `payments refund` gives money back.
import { refundRoutes } from '@paylog/commands/payments/refundRoutes'
import { amountText } from '@paylog/domain/currency'
import { RefundReason } from '@paylog/domain/payments/events'
import type { RefundResource } from '@paylog/domain/payments/refunds'
import { UsageError } from '../command.ts'
import { defineCommand } from '../defineCommand.ts'
import { oneOf, value, withDefault } from '../options.ts'
import { amountOption, note, readPaymentId } from './paymentOptions.ts'

const key = value(
  'KEY',
  'any text: the same command with the same key makes one refund, however often it runs',
  (text, name) => {
    if (text === '' || text.length > 255) throw new UsageError(`${name} must have 1 to 255 characters`)
    return text
  },
)

export const paymentsRefund = defineCommand({
  summary: 'Refund a payment, or a part of it',
  args: ['ID'],
  options: {
    'amount-cents': amountOption('all that is left'),
    reason: withDefault(oneOf('R', RefundReason.enum, RefundReason.enum.join(', ')), 'other'),
    note: note('for the record; not sent to the provider'),
    key,
  },
  audited: 'audit-reason',
  json: 'one object: the refund',
  about: [
    'Exits with 1 when the refund was not made; the message has the error code. After provider_outcome_unknown the refund',
    'stays pending, and the worker or `payments refresh` finds out what became of it. Only with the same key is it safe to',
    'repeat the command then.',
  ],
  async run({ args, options, open, api }) {
    const { 'amount-cents': amount_cents, reason, note = null, key } = options
    const path = `/payments/${readPaymentId(args[0])}/refunds`
    const call = await api(refundRoutes({ workflow: await open.workflow() }))
    const headers = key === undefined ? {} : { 'idempotency-key': encodeURIComponent(key) }
    const refund = await call<RefundResource>('POST', path, { body: { amount_cents, reason, note }, headers })
    return { json: refund, text: refundLine(refund) }
  },
})

function refundLine({ id, payment_id, amount_cents, currency, status }: RefundResource): string {
  const amount = amount_cents === null ? 'an unknown amount' : amountText(amount_cents, currency)
  return `Refund ${id} of payment ${payment_id} is ${status}: ${amount}`
}
