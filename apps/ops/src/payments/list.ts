// `payments list` finds payments of all owners in the read model.
import { amountText } from '@paylog/domain/currency'
import { recordedId } from '@paylog/domain/fields'
import { PaymentStatus } from '@paylog/domain/payments/payment'
import type { ReadModels } from '@paylog/projections/registry'
import { allOf, composerOf, defineQuery, type Given } from '@paylog/runtime/postgres/runQuery'
import { table } from '@paylog/runtime/process/table'
import { defineCommand } from '../defineCommand.ts'
import { count, oneOf, text, time, withDefault } from '../options.ts'
import { visible } from '../texts.ts'

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
    const since = options.since === undefined ? undefined : new Date(options.since).toISOString()
    const payments = await newestPayments(open.pool(), { ...options, since })
    return { json: { payments }, text: listText(payments) }
  },
})

type Filter = {
  readonly status: PaymentStatus | undefined
  readonly provider: string | undefined
  readonly search: string | undefined
  readonly since: string | undefined
  readonly limit: number
}

const newestPayments = defineQuery(({ status, provider, search, since, limit }: Given<Filter>) =>
  composerOf<ReadModels>()
    .selectFrom('read_models.payments')
    .select(['id', 'created_at', 'status', 'amount_cents', 'currency', 'provider_id', 'provider_intent_id'])
    .select(['provider_payment_id', 'guest_email', 'reference_code'])
    .where((payment) =>
      allOf([
        status && payment('status', '=', status),
        provider && payment('provider_id', '=', provider),
        search &&
          payment.or([
            payment('id', '=', search.as(recordedId)),
            payment('provider_intent_id', '=', search),
            payment('provider_payment_id', '=', search),
            payment('reference_code', '=', search),
            payment(payment.fn('lower', ['guest_email']), '=', payment.fn('lower', [search])),
          ]),
        since && payment('created_at', '>=', since),
      ]),
    )
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(limit),
)

type ListedPayment = Awaited<ReturnType<typeof newestPayments>>[number]

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
