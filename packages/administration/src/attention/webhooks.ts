// Attention to webhook endpoints: those that are paused, whose deliveries fail, or are late.
import { type EndpointTroubles, endpointTroubles } from '@paylog/webhooks/deliveries/operations/endpointTroubles'
import { type AttentionItem, attentionLimits } from './item.ts'
import type { AttentionContext, AttentionSource } from './source.ts'

const dayMs = 86_400_000
const minuteMs = 60_000
const { failedDays, retriedMinutes, lateSeconds } = attentionLimits

export const endpointAttention: AttentionSource = {
  what: 'webhook endpoints',
  codes: ['endpoint_paused', 'endpoint_failing', 'deliveries_late'],
  link: '/webhooks',
  async read(context) {
    const now = context.now().getTime()
    const [failedSince, retriedBefore] = [new Date(now - failedDays * dayMs), new Date(now - retriedMinutes * minuteMs)]
    const all = await endpointTroubles(context.db, { failedSince, retriedBefore })
    return all.flatMap((troubles) => {
      const name = named(troubles.endpoint, context)
      return troubles.disabled_at === null
        ? [...failing(troubles, name), ...late(troubles, name, now)]
        : [paused(troubles, name, troubles.disabled_at)]
    })
  },
}

/** `Shop (shop.example.com)`, or `endpoint 1 (…)` without a name: both are of the present configuration. */
function named(endpoint: string, { endpoints }: AttentionContext): string {
  const known = endpoints.find(({ name }) => name === endpoint)
  if (known === undefined) return `endpoint ${endpoint}`
  return `${known.label ?? `endpoint ${endpoint}`} (${new URL(known.url).host})`
}

const capitalized = (text: string) => `${text.charAt(0).toUpperCase()}${text.slice(1)}`

const deliveries = (count: number) => (count === 1 ? '1 delivery' : `${count} deliveries`)

const pageOf = (endpoint: string) => `/webhooks/endpoints/${encodeURIComponent(endpoint)}`
const listOf = (endpoint: string, status: string) => `${pageOf(endpoint)}?status=${status}`

function paused({ endpoint, pending: count }: EndpointTroubles, name: string, occurred_at: string): AttentionItem {
  const waiting = count === 0 ? '' : `, with ${deliveries(count)} waiting`
  const message = `${capitalized(name)} is paused${waiting}`
  return { code: 'endpoint_paused', message, occurred_at, link: pageOf(endpoint), count }
}

/** Deliveries that failed for good, or else those that fail again and again. */
function failing(troubles: EndpointTroubles, name: string): AttentionItem[] {
  const { endpoint, failed, last_failed_at, retried, retried_since } = troubles
  const item = { code: 'endpoint_failing' as const }
  if (last_failed_at !== null) {
    const message = `${deliveries(failed)} to ${name} failed within ${failedDays} days, without being sent again`
    return [{ ...item, message, occurred_at: last_failed_at, link: listOf(endpoint, 'failed'), count: failed }]
  }
  if (retried_since === null) return []
  const message = `${deliveries(retried)} to ${name} failed for more than ${retriedMinutes} minutes, and will be tried again`
  return [{ ...item, message, occurred_at: retried_since, link: listOf(endpoint, 'pending'), count: retried }]
}

function late({ endpoint, due: count, oldest_due_at }: EndpointTroubles, name: string, now: number): AttentionItem[] {
  if (oldest_due_at === null || now - new Date(oldest_due_at).getTime() <= lateSeconds * 1_000) return []
  const message = `${deliveries(count)} to ${name} should have been sent, the oldest more than ${lateSeconds / 60} minutes ago`
  return [{ code: 'deliveries_late', message, occurred_at: oldest_due_at, link: pageOf(endpoint), count }]
}
