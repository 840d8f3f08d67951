// The audit trail as a list. It has no owners: the caller must be an administrator.
import { foldEmail } from '@paylog/domain/actor'
import { AuditTrailEntry } from '@paylog/domain/auditTrail'
import { Instant } from '@paylog/domain/fields'
import { foldedEmail } from '@paylog/projections/searchText'
import { type SqlBool, sql } from 'kysely'
import { byCreation, defineList } from '../lists/defineList.ts'
import { ExactText, filter, isCreatedAfter, isCreatedBefore } from '../lists/filters.ts'

const done = (bound: string) => `Only what was done ${bound} this time, with a UTC offset (encode + as %2B)`

export const auditTrailList = defineList('audit_trail', {
  item: AuditTrailEntry,
  computed: () => ({
    target: sql`case when item.target_id is not null then json_build_object('kind', item.target_kind, 'id', item.target_id) end`,
    amount_cents: sql`case when json_typeof(item.details->'amount_cents') = 'number' then (item.details->>'amount_cents')::bigint end`,
    // Ids that the trail left out are no UUIDs.
    currency: sql`case when item.target_kind = 'payment' and item.target_id ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'
      then (select payment.currency from read_models.payments as payment where payment.id = item.target_id::uuid) end`,
  }),
  filters: {
    action: filter(ExactText, 'Only this action, such as refund_payment', 'action'),
    actor: filter(ExactText, 'Only what this actor did, such as session:<user id>', 'actor'),
    actor_email: filter(
      ExactText,
      'Only what administrators did who had this e-mail at that time, ignoring the case of ASCII letters',
      (_, email) => sql<SqlBool>`${sql.raw(foldedEmail('actor_email'))} = ${email.as(foldEmail)}`,
    ),
    target: filter(ExactText, 'Only what was done to the target with this id', 'target_id'),
    created_at_from: filter(Instant, done('after'), isCreatedAfter),
    created_at_to: filter(Instant, done('before'), isCreatedBefore),
  },
  orders: byCreation,
})
