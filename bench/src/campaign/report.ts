// Prints the figures of a campaign as a table, then its violations.
import type { CampaignResult } from './campaign.ts'

const storiesShown = 60

export function campaignReport(result: CampaignResult, durationMs: number): string {
  const { observations, violations, kills, ownEnds, stripeFaults, settledMs } = result
  const { requests, notifications, webhooks, intents, payments } = observations
  const answers = requests.flatMap((request) => request.answers)
  const kinds = countBy(answers, ({ status, code }) =>
    status === null ? `no response, ${code}` : `${status} ${code ?? ''}`.trim(),
  )
  const named = Map.groupBy(webhooks, ({ mode }) => mode)
  const copies = (mode: 'canonical' | 'raw') => {
    const all = named.get(mode) ?? []
    return `${all.length} of ${new Set(all.map(({ webhook_id }) => webhook_id)).size} ids`
  }
  const sent = notifications.reduce((sum, notification) => sum + notification.sent, 0)
  const isForeign = Map.groupBy(intents, ({ is_foreign }) => is_foreign)
  const rows: readonly (readonly [string, string | number])[] = [
    ['payments requested', requests.length],
    ['  with a key', requests.filter(({ key }) => key !== null).length],
    ['payments recorded', payments.size],
    ['  by status', listed(countBy([...payments.values()], ({ status }) => status))],
    ['requests of clients', answers.length],
    ...kinds.map(([kind, count]) => [`  ${kind}`, count] as const),
    ['intents in the books', isForeign.get(false)?.length ?? 0],
    ['  of other systems', isForeign.get(true)?.length ?? 0],
    ['faults at Stripe', listed(Object.entries(stripeFaults))],
    ['notifications', notifications.length],
    ['  sent', sent],
    ['webhooks, canonical', copies('canonical')],
    ['webhooks, raw', copies('raw')],
    ['kills', [...kills.values()].reduce((sum, count) => sum + count, 0)],
    ...[...kills].map(([name, count]) => [`  ${name}`, `${count}${ownEnd(ownEnds.get(name) ?? 0)}`] as const),
    ['settled after the last fault', `${(settledMs / 1_000).toFixed(1)} s`],
    ['duration', `${Math.round(durationMs / 1_000)} s`],
    ['violations', violations.length],
    ...countBy(violations, ({ rule }) => rule).map(([rule, count]) => [`  ${rule}`, count] as const),
  ]
  const width = Math.max(...rows.map(([name]) => name.length))
  const table = rows.map(([name, value]) => `${name.padEnd(width)}  ${value}`)
  const stories = violations.slice(0, storiesShown).map(({ rule, story }) => `${rule}: ${story}`)
  const hidden = violations.length - stories.length
  return [...table, ...stories, ...(hidden > 0 ? [`and ${hidden} more violations`] : [])].join('\n')
}

const ownEnd = (count: number) => (count === 0 ? '' : `, ended by itself ${count} times`)

function countBy<Item>(items: readonly Item[], kind: (item: Item) => string): [string, number][] {
  const groups = [...Map.groupBy(items, kind)].map(([name, all]): [string, number] => [name, all.length])
  return groups.sort(([, a], [, b]) => b - a)
}

const listed = (counts: readonly (readonly [string, number])[]) =>
  counts.map(([name, count]) => `${name} ${count}`).join(', ')

/** Everything that the judge saw, to look into a violation. */
export function observationsJson({ observations, violations }: CampaignResult): string {
  const { payments, lists, ...others } = observations
  return JSON.stringify(
    { violations, ...others, payments: [...payments.values()], lists: Object.fromEntries(lists) },
    null,
    1,
  )
}
