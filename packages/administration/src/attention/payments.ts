// Attention to payments and disputes: the read models have it.
import { attentionMessage } from '@paylog/domain/payments/attention'
import type { AttentionCode } from '@paylog/domain/payments/events'
import { defineQuery } from '@paylog/runtime/postgres/runQuery'
import { sql } from 'kysely'
import { attentionLimits, counted, paymentCodes } from './item.ts'
import type { AttentionSource } from './source.ts'

/** Counting stops here: the newest payments count. */
const maxPayments = 10_000

const payments = defineQuery(
  () => sql<{ code: AttentionCode; count: number; occurred_at: string }>`
select entry.value->>'code' as code, count(distinct id) as count, max((entry.value->>'occurred_at')::timestamptz) as occurred_at
from (
  select id, attention_entries from read_models.payments where attention_entries is not null
  order by created_at desc, id desc limit ${sql.lit(maxPayments)}
) as newest, jsonb_each(attention_entries) as entry
group by 1`,
)

export const paymentAttention: AttentionSource = {
  what: 'payments',
  codes: paymentCodes,
  link: '/read-models',
  async read({ db }) {
    const found = await payments(db, {})
    return found.map(({ code, count, occurred_at }) => {
      const message = attentionMessage(code)
      const sentence = `${message.charAt(0).toLowerCase()}${message.slice(1)}`
      const link = '/payments?attention=true'
      return { code, message: `${counted(count, 'payment')}: ${sentence}`, occurred_at, link, count }
    })
  },
}

// Once a provider reviews the evidence, nothing more is asked for.
const disputes = defineQuery(
  () => sql<{ count: number; opened_at: string; first: string }>`
select count(*) as count, min(created_at) as opened_at, min(evidence_due_by) as first
from read_models.disputes
where status = 'open' and provider_status not like '%under_review'
  and evidence_due_by between now() and now() + make_interval(days => ${sql.lit(attentionLimits.evidenceDays)})
having count(*) > 0`,
)

export const disputeAttention: AttentionSource = {
  what: 'disputes',
  codes: ['evidence_due'],
  link: '/read-models',
  async read({ db }) {
    const found = await disputes(db, {})
    return found.map(({ count, opened_at, first }) => {
      const [day, time = ''] = first.split('T')
      const due = `${day} ${time.slice(0, 5)} UTC`
      const message = `Evidence for ${counted(count, 'dispute')} is due within ${attentionLimits.evidenceDays} days, the first by ${due}`
      return { code: 'evidence_due', message, occurred_at: opened_at, link: '/disputes?status=open', count }
    })
  },
}
