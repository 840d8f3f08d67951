// Prints the figures of a campaign as a table, then its violations.
import { type CampaignResult, storiesOf } from './campaign.ts'
import { outageTable } from './outageTable.ts'

const storiesShown = 60
type Row = readonly [string, string | number]

export function campaignReport(result: CampaignResult, durationMs: number): string {
  const { observations, rounds, violations, ownEnds, quietPoints } = result
  const { operations, notifications, webhooks, intents, log, reads, intrusions } = observations
  const answers = operations.flatMap((operation) => operation.answers)
  const kinds = countBy(answers, ({ status, code }) =>
    status === null ? `no response, ${code}` : `${status} ${code ?? ''}`.trim(),
  )
  const sent = notifications.reduce((sum, notification) => sum + notification.sent, 0)
  const faults = rounds.flatMap((round) => round.faults)
  const slowest = rounds.toSorted((a, b) => b.recovery.ms - a.recovery.ms).slice(0, 3)
  const rows: readonly Row[] = [
    ...countBy(operations, ({ action }) => action),
    ['requests of clients', answers.length],
    ...kinds.map(([kind, count]): Row => [`  ${kind}`, count]),
    ['events in the log', log.length],
    ['reads after writes', reads.length],
    ['  that said that they are stale', reads.filter(({ is_stale }) => is_stale).length],
    ['attempts to reach what is not theirs', intrusions.length],
    ['intents in the books', intents.length],
    ...countBy(intents, ({ provider, status }) => `${provider} ${status}`).map(
      ([kind, count]): Row => [`  ${kind}`, count],
    ),
    ['faults of providers', listed(Object.entries(observations.provider_faults))],
    ['notifications', `${notifications.length}, sent ${sent} times`],
    ['webhooks received', `${webhooks.length} of ${new Set(webhooks.map(({ webhook_id }) => webhook_id)).size} ids`],
    ['checkpoints', observations.checkpoints.length],
    ['rounds', rounds.length],
    ['faults', faults.length],
    ...countBy(faults, ({ kind }) => kind).map(([kind, count]): Row => [`  ${kind}`, count]),
    ['processes ended by themselves', listed([...ownEnds].filter(([, count]) => count > 0)) || 'none'],
    ['recovered, p50, p99, max', quantiles(rounds.map(({ recovery }) => recovery.ms))],
    ...slowest.map(
      (round): Row => [
        `  ${seconds(round.recovery.ms)}, round ${round.number}`,
        `${round.recovery.last} last, after ${storiesOf(round)}`,
      ],
    ),
    ['quiet points judged', quietPoints],
    ['duration', `${Math.round(durationMs / 60_000)} min`],
    ['violations', violations.length],
    ...countBy(violations, ({ rule }) => rule).map(([rule, count]): Row => [`  ${rule}`, count]),
  ]
  const width = Math.max(...rows.map(([name]) => name.length))
  const table = rows.map(([name, value]) => `${name.padEnd(width)}  ${value}`)
  const stories = violations.slice(0, storiesShown).map(({ rule, story }) => `${rule}: ${story}`)
  const hidden = violations.length - stories.length
  return [...table, ...outageTable(rounds), ...stories, ...(hidden > 0 ? [`and ${hidden} more violations`] : [])].join(
    '\n',
  )
}

function quantiles(values: readonly number[]): string {
  const sorted = values.toSorted((a, b) => a - b)
  const at = (share: number) => sorted[Math.ceil(share * sorted.length) - 1] ?? 0
  return [at(0.5), at(0.99), at(1)].map(seconds).join(', ')
}

const seconds = (ms: number) => `${(ms / 1_000).toFixed(1)} s`

function countBy<Item>(items: readonly Item[], kind: (item: Item) => string): [string, number][] {
  const groups = [...Map.groupBy(items, kind)].map(([name, all]): [string, number] => [name, all.length])
  return groups.sort(([, a], [, b]) => b - a)
}

const listed = (counts: readonly (readonly [string, number])[]) =>
  counts.map(([name, count]) => `${name} ${count}`).join(', ')

/** Everything that the judge saw, to look into a violation, and every round. */
export function observationsJson({ observations, violations, rounds }: CampaignResult): string {
  const { payments, lists, ...others } = observations
  return JSON.stringify(
    { violations, rounds, ...others, payments: [...payments.values()], lists: Object.fromEntries(lists) },
    null,
    1,
  )
}
