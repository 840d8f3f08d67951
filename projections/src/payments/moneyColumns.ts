// What was received, refunded and disputed of a payment, and what a human has to look at. The table has what each event
// said, because sums could not be applied twice; the view computes the rest, by the same rules as the domain.
import type { AttentionEntry } from '@paylog/domain/payments/attention'
import type { DisputeStatus } from '@paylog/domain/payments/events'
import { bigint, boolean, type Column, computed, entriesOf, latest, nullable, textOf } from '../columns.ts'

/** A report of received money, as the domain's `Charge`. */
export type ChargeReport = { readonly charge: string | null; readonly cents: number }

export const moneyColumns = {
  /**
   * Reports by the revision of the event, and `others` if there is money that was not asked for, because only then the reports
   * have to be combined.
   */
  charge_reports: entriesOf<ChargeReport | true>(),
  /** The amount of the last success. */
  succeeded_cents: latest(nullable(bigint)),
  /** The succeeded amount by the id of the refund. */
  refunded_cents: entriesOf<number>(),
  /** By the id of the dispute. */
  dispute_statuses: entriesOf<DisputeStatus>(),
  /** By the revision of the event. */
  attention_entries: entriesOf<AttentionEntry>(),
}

/**
 * The last report of each charge counts. Reports without a charge are about the first one, as in the domain's `withCharge`.
 */
const combinedSql = `(
    select sum(cents)::bigint from (
      select distinct on (charge) cents from (
        select key::bigint as at, (value->>'cents')::bigint as cents,
          coalesce(value->>'charge', first_value(value->>'charge') over (order by value->>'charge' is null, key::bigint)) as charge
        from jsonb_each(charge_reports) where jsonb_typeof(value) = 'object'
      ) as report order by charge, at desc
    ) as latest
  )`

const receivedSql = `case when charge_reports is null then 0
  when charge_reports ? 'others' then ${combinedSql}
  else succeeded_cents end`

const refundedSql = `case when refunded_cents is null then 0
  else (select sum(value::bigint)::bigint from jsonb_each_text(refunded_cents)) end`

/** Of several disputes an open one counts, then a lost one. */
const disputeSql = `case when dispute_statuses is null then null
  when jsonb_path_exists(dispute_statuses, '$.* ? (@ == "open")') then 'open'
  when jsonb_path_exists(dispute_statuses, '$.* ? (@ == "lost")') then 'lost'
  else 'won' end`

const attentionSql = `(select coalesce(jsonb_agg(value order by key::bigint), '[]') from jsonb_each(attention_entries))`

/** A list in the order of the events. */
const attentionList: Column<never> = { type: 'jsonb', isNullable: false }

export const computedMoneyColumns = {
  amount_received_cents: computed(bigint, receivedSql),
  amount_refunded_cents: computed(bigint, refundedSql),
  dispute_status: computed(nullable(textOf<DisputeStatus>()), disputeSql),
  attention: computed(attentionList, attentionSql),
  has_attention: computed(boolean, 'attention_entries is not null'),
}
