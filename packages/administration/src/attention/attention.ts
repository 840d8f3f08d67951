// What a human has to look at: one list, for the route and for the metrics, so that both always agree.
import { setTimeout as sleep } from 'node:timers/promises'
import { isDatabaseUnavailable } from '@paylog/runtime/postgres/databaseErrors'
import { reused } from '@paylog/runtime/process/shared'
import type { Logger } from '@paylog/runtime/telemetry/log'
import type { Metrics } from '@paylog/runtime/telemetry/metrics'
import { type AttentionItem, type AttentionItemCode, attentionCodes } from './item.ts'
import { disputeAttention, paymentAttention } from './payments.ts'
import { providerAttention } from './providers.ts'
import { logAttention, readModelAttention } from './readModels.ts'
import type { AttentionContext, AttentionSource } from './source.ts'
import { endpointAttention } from './webhooks.ts'

export type Attention = {
  /**
   * The items of a few seconds ago, or the present ones, the worst first. A source that cannot be read is an item of its own.
   * @throws the error of Postgres when it is not available at all
   */
  read(): Promise<AttentionReading>
}

export type AttentionReading = {
  readonly items: readonly AttentionItem[]
  /** The codes of which it is not known whether there are items. */
  readonly unknown: ReadonlySet<AttentionItemCode>
}

const sources: readonly AttentionSource[] = [
  logAttention,
  providerAttention,
  readModelAttention,
  endpointAttention,
  paymentAttention,
  disputeAttention,
]

const defaultTiming = {
  /** How long a reading is used again. */
  maxAgeMs: 3_000,
  /** How long a source may take: a table may be locked. */
  timeoutMs: 2_000,
}

/** @param options `timing` for tests */
export function createAttention({
  log,
  timing = defaultTiming,
  ...context
}: AttentionContext & { readonly log: Pick<Logger, 'warn'>; readonly timing?: typeof defaultTiming }): Attention {
  async function readSource(source: AttentionSource) {
    try {
      const items = await Promise.race([source.read(context), sleep(timing.timeoutMs, undefined, { ref: false })])
      if (items !== undefined) return { source, items }
      log.warn({ ms: timing.timeoutMs }, `${source.what}: looking at what needs attention took too long`)
    } catch (err) {
      if (isDatabaseUnavailable(err)) throw err
      log.warn({ err }, `${source.what}: what needs attention could not be read`)
    }
    return { source, items: undefined }
  }
  async function readAll(): Promise<AttentionReading> {
    const items: AttentionItem[] = []
    const unknown = new Set<AttentionItemCode>()
    // One after the other, because a pool may have two connections only.
    for (const each of sources) {
      const { source, items: found } = await readSource(each)
      items.push(...(found ?? [unknownItem(source, context.now())]))
      if (found === undefined) for (const code of source.codes) unknown.add(code)
    }
    return { items: items.sort(byUrgency), unknown }
  }
  return { read: reused(timing.maxAgeMs, readAll) }
}

const unknownItem = ({ what, link }: AttentionSource, now: Date): AttentionItem => ({
  code: 'attention_unknown',
  message: `Whether anything is wrong with the ${what} is not known: that could not be read`,
  occurred_at: now.toISOString(),
  link,
  count: 1,
})

const rankOf = ({ code }: AttentionItem) => attentionCodes.indexOf(code)

/** By code, and then by how many. */
const byUrgency = (one: AttentionItem, other: AttentionItem) => rankOf(one) - rankOf(other) || other.count - one.count

/** Adds the number of items of each code to the metrics. A code of which it is not known is left out. */
export function measureAttention(metrics: Metrics, attention: Attention, log: Pick<Logger, 'warn'>): void {
  metrics.gauges<{ readonly code: AttentionItemCode; readonly items: number }>({
    async readRows() {
      const { items, unknown } = await attention.read()
      const known = attentionCodes.filter((code) => !unknown.has(code))
      return known.map((code) => ({ code, items: items.filter((item) => item.code === code).length }))
    },
    labelName: 'code',
    labelOf: ({ code }) => code,
    figures: [
      {
        name: 'paylog_attention',
        help: 'Items of GET /admin/attention by code: endpoints, read models and providers; one for payments, and for disputes',
        measure: ({ items }) => items,
      },
    ],
    log,
  })
}
