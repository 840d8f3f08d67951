// The result of `audit verify`, as text and as JSON.
import { visible } from '../payments/showText.ts'
import type { EventName } from '../streams/exportDifference.ts'
import type { LogComparison, LogDifference, Proven } from './compareLog.ts'
import type { InvalidCheckpoint } from './givenCheckpoints.ts'
import type { MissingEvent } from './missingEvent.ts'

export type LogVerdict = LogComparison & {
  /** Leaves of the stored tree. */
  readonly treeSize: number
  /** Why the stored tree cannot be read. */
  readonly treeProblem: string | undefined
  /** The first missing event, if it could be found out. */
  readonly missing: MissingEvent | undefined
  /** Stored or given checkpoints that are not signed as they should be. The first ones of `invalidCount`. */
  readonly invalid: readonly InvalidCheckpoint[]
  readonly invalidCount: number
}

export const isValid = ({ difference, treeDamage, treeProblem, invalidCount }: LogVerdict) =>
  difference === undefined && treeDamage === undefined && treeProblem === undefined && invalidCount === 0

export function verdictJson(verdict: LogVerdict): string {
  const { events, treeSize, checkpoints, proven, difference, missing, treeDamage, invalid, invalidCount } = verdict
  const signer = (by: Proven['by'] | null) => by && { size: by.size, source: by.source }
  return JSON.stringify({
    valid: isValid(verdict),
    events,
    tree_size: treeSize,
    checkpoints,
    proven: proven === undefined ? null : { size: proven.size, event: proven.event, by: signer(proven.by) },
    difference:
      difference === undefined ? null : { ...difference, by: signer(difference.by), missing: missing ?? null },
    tree_damage: treeDamage ?? null,
    tree_problem: verdict.treeProblem ?? null,
    invalid_checkpoints: invalidCount,
    invalid,
  })
}

export function verdictText(verdict: LogVerdict): string {
  const { difference, treeDamage, treeProblem, missing, invalid, invalidCount } = verdict
  const rest = invalidCount - invalid.length
  return [
    ...(difference === undefined ? [] : [differenceText(difference, missing), witnessText(difference)]),
    ...(treeDamage === undefined
      ? []
      : [`The stored tree was changed, not the log: at leaf ${treeDamage.index}, position ${treeDamage.position}.`]),
    ...(treeProblem === undefined ? [] : [`The stored tree is incomplete: ${treeProblem}.`]),
    ...invalid.map(({ source, reason }) => `${visible(source)} is no checkpoint of this log: ${reason}.`),
    ...(rest > 0 ? [`… and ${rest} more.`] : []),
    provenText(verdict),
    ...uncoveredText(verdict),
  ].join('\n')
}

const count = (events: number, one = 'event') => (events === 1 ? `1 ${one}` : `${events} ${one}s`)
const eventText = ({ stream, revision, type, id, position }: EventName) =>
  visible(`${stream}@${revision} (${type}, id ${id}, position ${position})`)
const placeText = (after: EventName | null) =>
  after === null ? 'at the start of the log' : `after ${eventText(after)}`

function differenceText(difference: LogDifference, missing: MissingEvent | undefined): string {
  switch (difference.kind) {
    case 'changed':
      return `Position ${difference.position}: ${eventText(difference.event)} was changed.`
    case 'added':
      return `Position ${difference.position}: ${eventText(difference.event)} was added.`
    case 'order':
      return `Position ${difference.position}: ${eventText(difference.event)} is not in its place: the order was changed.`
    case 'missing': {
      const name = missing === undefined ? '' : `, ${visible(missing.stream)}@${missing.revision},`
      const what =
        difference.count === 1
          ? `an event${name} is`
          : `${difference.count} events, the first${name || ' of them'}, are`
      return `Position ${difference.position}: ${what} missing ${placeText(difference.after)}, before ${eventText(difference.before)}.`
    }
    case 'truncated':
      return `Position ${difference.position}: the log was truncated ${placeText(difference.after)}: ${count(difference.count)} missing.`
    case 'within':
      return withinText(difference)
  }
}

function withinText({ first, last, suspect, position }: Extract<LogDifference, { kind: 'within' }>): string {
  const range =
    first === null || last === null ? 'the log' : `one of the events from ${eventText(first)} to ${eventText(last)}`
  const hint =
    suspect === null ? '' : ` The stored tree, which was changed too, differs first at position ${suspect.position}.`
  return `Position ${position ?? 'unknown'} or later: ${range} was changed, removed, added or moved, and the stored tree with it.${hint}`
}

function witnessText({ by }: LogDifference): string {
  return by === null
    ? 'No checkpoint covers it: either the log or the stored tree was changed.'
    : `The checkpoint over ${count(by.size)} (${visible(by.source)}) shows it.`
}

function provenText({ proven, checkpoints, events }: LogVerdict): string {
  if (proven === undefined) return `Nothing is proven: no checkpoint matches the ${count(events)} of the log.`
  if (proven.event === null) return 'Nothing before it is proven, because it is the first event.'
  return (
    `The log is proven up to position ${proven.event.position}, ${eventText(proven.event)}: its first ${count(proven.size)} are those of the checkpoint over ${proven.by.size} ` +
    `(${visible(proven.by.source)}); ${count(checkpoints, 'checkpoint')} matched.`
  )
}

/** What follows the last checkpoint of a log without a difference. */
function uncoveredText({ difference, events, proven, treeSize }: LogVerdict): string[] {
  const uncovered = events - (proven?.size ?? 0)
  if (difference !== undefined || uncovered <= 0) return []
  const stored = Math.min(treeSize, events) - (proven?.size ?? 0)
  const known = stored > 0 ? `, ${stored} of them as in the stored tree` : ''
  return [`No checkpoint covers what follows yet: ${count(uncovered)}${known}.`]
}
