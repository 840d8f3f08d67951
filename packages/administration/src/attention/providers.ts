// Attention to providers: those that refuse our credentials, whose signatures we refuse, or that are silent.
import { areCredentialsRefused, readActivity, type StoredActivity } from '@paylog/commands/provider-activity/activity'
import type { KnownProvider } from '@paylog/commands/provider-calls/enabledProviders'
import { defineQuery, type Given } from '@paylog/runtime/postgres/runQuery'
import { sql } from 'kysely'
import { type AttentionItem, attentionLimits } from './item.ts'
import type { AttentionContext, AttentionSource } from './source.ts'

const hourMs = 3_600_000
const { silentHours, refusedSignatures } = attentionLimits
/** So many payments without any notification are suspicious even if nobody has paid one. */
const manyPayments = 10
/** The newest payments are looked at. */
const maxPayments = 10_000

export const providerAttention: AttentionSource = {
  what: 'providers',
  codes: ['provider_refused', 'provider_silent'],
  link: '/providers',
  async read(context) {
    const stored = await readActivity(context.db)
    // Of one that was never called or heard of, nothing is known.
    const watched = context.providers.flatMap(({ id, name, mode }): Watched[] => {
      const activity = stored.find(({ provider_id }) => provider_id === id)
      return mode === null || activity === undefined ? [] : [{ id, name, activity }]
    })
    return [...watched.flatMap((each) => refused(each, context.now())), ...(await silent(watched, context))]
  },
}

/** An enabled provider. */
type Watched = Pick<KnownProvider, 'id' | 'name'> & { readonly activity: StoredActivity }

/** Anybody can send notifications with a wrong signature: they matter as long as no right one comes. */
function refused({ name, activity }: Watched, now: Date): AttentionItem[] {
  const { credentials_refused_at, credentials_refusal, signatures_refused: count, signature_refused_at } = activity
  const keys = areCredentialsRefused(activity) ? credentials_refused_at : null
  const isLately =
    signature_refused_at !== null && now.getTime() - signature_refused_at.getTime() < silentHours * hourMs
  const signatures = count > refusedSignatures && isLately ? signature_refused_at : null
  const occurred_at = [keys, signatures].filter((at) => at !== null).map((at) => at.toISOString())
  const last = occurred_at.sort().at(-1)
  if (last === undefined) return []
  const ofSignatures = `the last ${count} notifications were refused, because their signature is wrong or missing`
  const ofKeys = `${name} refuses our credentials: ${credentials_refusal}${signatures ? `; ${ofSignatures}` : ''}`
  const item = { code: 'provider_refused' as const, link: '/providers', count: signatures ? count : 1 }
  return [{ ...item, message: keys ? ofKeys : `${name}: ${ofSignatures}`, occurred_at: last }]
}

const payments = defineQuery(
  ({ since }: Given<{ readonly since: Date }>) => sql<{ provider_id: string; count: number; succeeded: number }>`
select provider_id, count(*) as count, count(*) filter (where status = 'succeeded') as succeeded from (
  select provider_id, status from read_models.payments where created_at >= ${since}::timestamptz
  order by created_at desc, id desc limit ${sql.lit(maxPayments)}
) as newest
group by provider_id`,
  { customPlan: true },
)

/** The providers that should have sent a notification in this time and have not. */
async function silent(all: readonly Watched[], { db, now }: AttentionContext): Promise<AttentionItem[]> {
  const since = new Date(now().getTime() - silentHours * hourMs)
  const unheard = all.filter(({ activity }) => heardAt(activity) < since)
  if (unheard.length === 0) return []
  const found = await payments(db, { since })
  return unheard.flatMap(({ id, name, activity }) => {
    const of = found.find(({ provider_id }) => provider_id === id)
    if (of === undefined || (of.succeeded === 0 && of.count < manyPayments)) return []
    const message = `${name} has sent no notification for ${silentHours} hours, in which payments were made with it`
    const occurred_at = heardAt(activity).toISOString()
    return [{ code: 'provider_silent', message, occurred_at, link: '/providers', count: of.count }]
  })
}

const heardAt = ({ notified_at, watched_since }: StoredActivity) => notified_at ?? watched_since
