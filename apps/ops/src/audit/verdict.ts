// The result of `audit verify`, as text and as JSON.
import type { EarlierCheckpoint } from '@paylog/audit-log/treeStore'
import type { EventName } from '@paylog/event-store/export/difference'
import { visible } from '../payments/showText.ts'
import type { InvalidCheckpoint } from './checkpoints.ts'
import type { LogComparison, LogDifference, Proven } from './compareLog.ts'

export type MissingEvent = { readonly stream: string; readonly revision: string }

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
  /** Of trees that `audit restart` has ended. They are not compared. */
  readonly earlier: readonly EarlierCheckpoint[]
}

/** Checkpoints that are listed. The others are counted. */
const maxListed = 20

/** A log that no checkpoint is compared with is not proven. */
export const isValid = ({ proven, difference, treeDamage, treeProblem, invalidCount }: LogVerdict) =>
  proven !== undefined &&
  difference === undefined &&
  treeDamage === undefined &&
  treeProblem === undefined &&
  invalidCount === 0

export function verdictJson(verdict: LogVerdict) {
  const { events, treeSize, checkpoints, proven, difference, missing, treeDamage, invalid, invalidCount } = verdict
  const signer = (by: Proven['by'] | null) => by && { size: by.size, source: by.source }
  return {
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
    earlier_checkpoints: verdict.earlier.map(({ root, ...each }) => ({ ...each, root: root.toString('base64') })),
  }
}

export function verdictText(verdict: LogVerdict): string {
  const { difference, treeDamage, treeProblem, missing, invalid, invalidCount } = verdict
  const rest = invalidCount - invalid.length
  return [
    ...(difference === undefined ? [] : [differenceText(difference, missing), witnessText(difference)]),
    ...endedText(verdict),
    ...(treeDamage === undefined
      ? []
      : [`The stored tree was changed, not the log: at leaf ${treeDamage.index}, position ${treeDamage.position}.`]),
    ...(treeProblem === undefined ? [] : [`The stored tree is incomplete: ${treeProblem}.`]),
    ...invalid.map(({ source, reason }) => `${visible(source)} is no checkpoint of this log: ${reason}.`),
    ...(rest > 0 ? [`… and ${rest} more.`] : []),
    provenText(verdict),
    ...uncoveredText(verdict),
    ...earlierText(verdict.earlier),
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

/** What explains a given checkpoint, though it does not excuse the log. */
function endedText({ difference, earlier }: LogVerdict): string[] {
  const by = difference?.by
  const ended = earlier.find(({ size, root }) => by?.size === size && by.root.equals(root))
  return ended === undefined
    ? []
    : [
        `It is one of an earlier tree, which an operator has ended at ${ended.ended_at.toISOString()}: see the audit trail.`,
      ]
}

function earlierText(earlier: readonly EarlierCheckpoint[]): string[] {
  if (earlier.length === 0) return []
  const what = count(earlier.length, 'checkpoint')
  return [`Not compared: ${what} of earlier trees, which were ended by an operator.`, ...checkpointLines(earlier)]
}

/** A line for each of the first ones, and how many follow. */
export function checkpointLines(
  checkpoints: readonly (Pick<EarlierCheckpoint, 'size' | 'made_at'> & Partial<EarlierCheckpoint>)[],
): string[] {
  const rest = checkpoints.length - maxListed
  return [
    ...checkpoints.slice(0, maxListed).map(({ size, made_at, ended_at }) => {
      const end = ended_at === undefined ? '' : `, ended at ${ended_at.toISOString()}`
      return `  over ${count(size)}, signed at ${made_at.toISOString()}${end}`
    }),
    ...(rest > 0 ? [`  … and ${rest} more.`] : []),
  ]
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
