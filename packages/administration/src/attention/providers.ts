// Attention to providers: those that refuse our credentials, whose signatures we refuse, or that are silent.
import { areCredentialsRefused, readActivity, type StoredActivity } from '@paylog/commands/provider-activity/activity'
import { defineQuery, type Given, type Queryable } from '@paylog/runtime/postgres/runQuery'
import { sql } from 'kysely'
import { type AttentionItem, attentionLimits, counted } from './item.ts'
import type { AttentionContext, AttentionSource } from './source.ts'

const hourMs = 3_600_000
const { silentHours, refusedSignatures } = attentionLimits
/** So many payments without any notification are suspicious even if nobody has paid one. */
const manyPayments = 10
/** Counting stops here. */
const maxPayments = 10_000

export const providerAttention: AttentionSource = {
  what: 'providers',
  codes: ['provider_refused', 'provider_silent'],
  link: '/providers',
  async read(context) {
    const activity = await readActivity(context.db)
    const items: AttentionItem[] = []
    for (const { id, name, mode } of context.providers) {
      const known = activity.find(({ provider_id }) => provider_id === id)
      // Of one that was never called or heard of, nothing is known.
      if (mode === null || known === undefined) continue
      items.push(...refused(known, name, context.now()), ...(await silent(known, name, context)))
    }
    return items
  },
}

/** Anybody can send notifications with a wrong signature: they matter as long as no right one comes. */
function refused(activity: StoredActivity, name: string, now: Date): AttentionItem[] {
  const { credentials_refused_at, credentials_refusal, signatures_refused: count, signature_refused_at } = activity
  const keys = areCredentialsRefused(activity) ? credentials_refused_at : null
  const isLately =
    signature_refused_at !== null && now.getTime() - signature_refused_at.getTime() < silentHours * hourMs
  const signatures = count > refusedSignatures && isLately ? signature_refused_at : null
  const occurred_at = [keys, signatures].filter((at) => at !== null).map((at) => at.toISOString())
  const last = occurred_at.sort().at(-1)
  if (last === undefined) return []
  const ofKeys = `refuses our credentials: ${credentials_refusal}`
  const ofSignatures = `has sent nothing with a right signature since ${counted(count, 'notification')} with a wrong one`
  const message = [...(keys ? [ofKeys] : []), ...(signatures ? [ofSignatures] : [])].join(', and ')
  const item = { code: 'provider_refused' as const, link: '/providers', count: signatures ? count : 1 }
  return [{ ...item, message: `${name} ${message}`, occurred_at: last }]
}

const payments = defineQuery(
  ({ provider, since }: Given<{ readonly provider: string; readonly since: Date }>) => sql<{
    count: number
    succeeded: number
    first: string | null
  }>`
select count(*) as count, count(*) filter (where status = 'succeeded') as succeeded, min(created_at) as first from (
  select status, created_at from read_models.payments
  where provider_id = ${provider} and created_at >= ${since}::timestamptz
  order by created_at desc limit ${sql.lit(maxPayments)}
) as newest`,
  { customPlan: true },
)

async function silent(
  { provider_id, watched_since, notified_at }: StoredActivity,
  name: string,
  { db, now }: AttentionContext,
): Promise<AttentionItem[]> {
  const since = new Date(now().getTime() - silentHours * hourMs)
  const heard = notified_at ?? watched_since
  if (heard >= since) return []
  const found = await paymentsSince(db, provider_id, since)
  if (found === undefined) return []
  const message = `${name} has sent no notification for ${silentHours} hours, in which ${counted(found, 'payment')} began`
  return [{ code: 'provider_silent', message, occurred_at: heard.toISOString(), link: '/providers', count: found }]
}

/** How many payments there were since then; undefined when they are no reason for a notification. */
async function paymentsSince(db: Queryable, provider: string, since: Date): Promise<number | undefined> {
  const [found] = await payments(db, { provider, since })
  const isReason = found !== undefined && (found.succeeded > 0 || found.count >= manyPayments)
  return isReason ? found.count : undefined
}
