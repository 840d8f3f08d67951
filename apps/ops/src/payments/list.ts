// `payments list` finds payments of all owners in the read model.
import { PaymentStatus } from '@paylog/domain/payments/payment'
import { table } from '@paylog/runtime/process/table'
import { defineCommand } from '../defineCommand.ts'
import { count, oneOf, text, time, withDefault } from '../options.ts'
import type { Pool } from '../system.ts'
import { amountText } from './resultText.ts'
import { visible } from './showText.ts'

const maxLimit = 1_000

export const paymentsList = defineCommand({
  summary: 'List the newest payments of all owners',
  options: {
    status: oneOf('S', PaymentStatus.enum, PaymentStatus.enum.join(', ')),
    provider: text('P', 'such as stripe'),
    search: text(
      'TEXT',
      "exactly the id of a payment, the provider's id of an intent or charge, an e-mail or a reference code",
    ),
    since: time('created since then'),
    limit: withDefault(count('N', `at most ${maxLimit}`, { max: maxLimit }), 20),
  },
  json: 'one object: payments',
  about: ['Reads Postgres, which may be a moment behind the log. `payments show` has everything about one payment.'],
  async run({ options, open }) {
    const payments = await newestPayments(open.pool(), options)
    return { json: { payments }, text: listText(payments) }
  },
})

type Filter = {
  readonly status: PaymentStatus | undefined
  readonly provider: string | undefined
  readonly search: string | undefined
  /** In ms. */
  readonly since: number | undefined
  readonly limit: number
}

type ListedPayment = {
  readonly id: string
  readonly created_at: string
  readonly status: PaymentStatus
  readonly amount_cents: number
  readonly currency: string
  readonly provider_id: string
  readonly provider_intent_id: string | null
  readonly provider_payment_id: string | null
  readonly guest_email: string | null
  readonly reference_code: string | null
}

type Row = Omit<ListedPayment, 'created_at' | 'amount_cents'> & {
  readonly created_at: Date
  readonly amount_cents: bigint
}

async function newestPayments(pool: Pool, { status, provider, search, since, limit }: Filter) {
  const { rows } = await pool.query<Row>(listSql, [
    status ?? null,
    provider ?? null,
    search ?? null,
    since === undefined ? null : new Date(since),
    limit,
  ])
  return rows.map((row): ListedPayment => {
    return { ...row, created_at: row.created_at.toISOString(), amount_cents: Number(row.amount_cents) }
  })
}

const listSql = `
select id::text, created_at, status, amount_cents, currency, provider_id, provider_intent_id, provider_payment_id,
  guest_email, reference_code
from read_models.payments
where ($1::text is null or status = $1)
  and ($2::text is null or provider_id = $2)
  and ($3::text is null or id::text = lower($3) or $3 in (provider_intent_id, provider_payment_id, reference_code)
    or lower(guest_email) = lower($3))
  and ($4::timestamptz is null or created_at >= $4)
order by created_at desc, id desc
limit $5`

function listText(payments: readonly ListedPayment[]): string {
  if (payments.length === 0) return 'There is no such payment.'
  const rows = payments.map(({ created_at, id, status, amount_cents, currency, provider_id, ...payment }) => [
    created_at,
    id,
    status,
    amountText(amount_cents, currency),
    provider_id,
    visible(payment.guest_email ?? ''),
    visible(payment.reference_code ?? ''),
  ])
  return table(['Created', 'Payment', 'Status', 'Amount', 'Provider', 'Guest e-mail', 'Reference'], rows)
}
