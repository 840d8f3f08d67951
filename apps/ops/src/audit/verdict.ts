// The result of `audit verify`, as text and as JSON.
import type { EarlierCheckpoint } from '@paylog/audit-log/treeStore'
import { type EventName, eventText } from '@paylog/event-store/export/difference'
import { counted, moreThan, visible } from '../texts.ts'
import type { InvalidCheckpoint, SignedCheckpoint } from './checkpoints.ts'
import type { Compared, LeafDifference } from './compareLog.ts'

export type MissingEvent = { readonly stream: string; readonly revision: string }

/** The first leaves of the log are those that this checkpoint signed. `event` is the last of them. */
type Proven = { readonly event: EventName | null; readonly by: SignedCheckpoint }

export type LogVerdict = Pick<Compared, 'events' | 'last'> & {
  /** Leaves of the stored tree. */
  readonly treeSize: number
  /** Why the stored tree cannot be read. */
  readonly treeProblem: string | undefined
  /** The first leaf that is not the one of the stored tree. */
  readonly leaf: LeafDifference | undefined
  /** The missing event, if it could be found out. */
  readonly missing: MissingEvent | undefined
  /** Checkpoints that the log leads to. */
  readonly checkpoints: number
  /** By the largest of them. */
  readonly proven: Proven | undefined
  /** The first checkpoint that the log does not lead to, and the last one before it that it does. */
  readonly wrong: { readonly by: SignedCheckpoint; readonly lastRight: Proven | undefined } | undefined
  /** Stored or given checkpoints that are not signed as they should be. */
  readonly invalid: readonly InvalidCheckpoint[]
  /** Of trees that `audit restart` has ended. They are not compared. */
  readonly earlier: readonly EarlierCheckpoint[]
}

/** Checkpoints that are listed. The others are counted. */
const maxListed = 20

/** A log that no checkpoint is compared with is not proven. */
export const isValid = ({ proven, wrong, leaf, treeProblem, invalid }: LogVerdict) =>
  proven !== undefined && wrong === undefined && leaf === undefined && treeProblem === undefined && invalid.length === 0

/** `checkpoint`: nothing but a checkpoint shows it, because the stored tree was changed with the log. */
type LogDifference = Omit<LeafDifference, 'kind' | 'position'> & {
  readonly kind: LeafDifference['kind'] | 'checkpoint'
  readonly position: string | null
  /** How many events are missing at the end. */
  readonly count?: number
}

/** A leaf that differs before a right checkpoint is damage of the stored tree: the log is as it was signed. */
const isTreeDamage = ({ leaf, proven }: LogVerdict) => leaf !== undefined && leaf.index < (proven?.by.size ?? 0)

/** The first difference of the log: that from the stored tree, unless a checkpoint before it is wrong already. */
function differenceOf(verdict: LogVerdict): LogDifference | undefined {
  const { leaf, wrong, events, last, treeSize } = verdict
  if (leaf && !isTreeDamage(verdict) && (wrong === undefined || leaf.index < wrong.by.size))
    return leaf.kind === 'truncated' ? { ...leaf, count: treeSize - events } : leaf
  if (wrong === undefined) return undefined
  const { by, lastRight } = wrong
  if (by.size > events) {
    const end = { index: events, position: last?.position ?? null, event: null, after: last }
    return { kind: 'truncated', ...end, count: by.size - events }
  }
  const after = lastRight?.event ?? null
  return { kind: 'checkpoint', index: lastRight?.by.size ?? 0, position: null, event: null, after }
}

export function verdictJson(verdict: LogVerdict) {
  const { events, treeSize, checkpoints, proven, wrong, leaf, missing = null, treeProblem = null, invalid } = verdict
  const signer = (by: SignedCheckpoint | undefined) => (by ? { size: by.size, source: by.source } : null)
  const difference = differenceOf(verdict)
  return {
    valid: isValid(verdict),
    events,
    tree_size: treeSize,
    checkpoints,
    proven: proven ? { size: proven.by.size, event: proven.event, by: signer(proven.by) } : null,
    difference: difference ? { ...difference, by: signer(wrong?.by), missing } : null,
    tree_damage: leaf && isTreeDamage(verdict) ? leaf : null,
    tree_problem: treeProblem,
    invalid_checkpoints: invalid.length,
    invalid: invalid.slice(0, maxListed),
    earlier_checkpoints: verdict.earlier.map(({ root, ...each }) => ({ ...each, root: root.toString('base64') })),
  }
}

export function verdictText(verdict: LogVerdict): string {
  const { leaf, treeProblem, invalid } = verdict
  const difference = differenceOf(verdict)
  return [
    ...(difference === undefined ? [] : [differenceText(difference, verdict), witnessText(verdict)]),
    ...endedText(verdict),
    ...(leaf && isTreeDamage(verdict)
      ? [`The stored tree was changed, not the log: at leaf ${leaf.index}, position ${leaf.position}.`]
      : []),
    ...(treeProblem === undefined ? [] : [`The stored tree is incomplete: ${treeProblem}.`]),
    ...invalid.slice(0, maxListed).map(({ source, reason }) => `${source} is no checkpoint of this log: ${reason}.`),
    ...moreThan(maxListed, invalid.length, ''),
    provenText(verdict),
    ...uncoveredText(verdict),
    ...earlierText(verdict.earlier),
  ]
    .map(visible)
    .join('\n')
}

const placeText = (after: EventName | null) =>
  after === null ? 'at the start of the log' : `after ${eventText(after)}`
const checkpointText = ({ size, source }: SignedCheckpoint) =>
  `the checkpoint over ${counted(size, 'event')} (${source})`

function differenceText({ kind, position, event, after, ...rest }: LogDifference, verdict: LogVerdict): string {
  switch (kind) {
    case 'changed':
    case 'added':
      return `Position ${position}: ${eventText(event)} was ${kind}.`
    case 'missing': {
      const { missing } = verdict
      const name = missing === undefined ? '' : `, ${missing.stream}@${missing.revision},`
      return `Position ${position}: an event${name} is missing ${placeText(after)}, before ${eventText(event)}.`
    }
    case 'truncated':
      return `Position ${position}: the log was truncated ${placeText(after)}: ${counted(rest.count ?? 0, 'event')} missing.`
    case 'checkpoint':
      return `The log was changed ${placeText(after)} or later, and the stored tree with it, so that it does not show where.`
  }
}

function witnessText({ wrong }: LogVerdict): string {
  if (wrong === undefined) return 'No checkpoint covers it: either the log or the stored tree was changed.'
  const { by, lastRight } = wrong
  return `The log does not lead to ${checkpointText(by)}${lastRight ? `, and does to ${checkpointText(lastRight.by)}` : ''}.`
}

/** What explains a given checkpoint, though it does not excuse the log. */
function endedText({ wrong, earlier }: LogVerdict): string[] {
  const ended = earlier.find(({ size, root }) => wrong?.by.size === size && wrong.by.root.equals(root))
  return ended === undefined
    ? []
    : [
        `It is one of an earlier tree, which an operator has ended at ${ended.ended_at.toISOString()}: see the audit trail.`,
      ]
}

function earlierText(earlier: readonly EarlierCheckpoint[]): string[] {
  if (earlier.length === 0) return []
  const what = counted(earlier.length, 'checkpoint')
  return [`Not compared: ${what} of earlier trees, which were ended by an operator.`, ...checkpointLines(earlier)]
}

/** A line for each of the first ones, and how many follow. */
export function checkpointLines(
  checkpoints: readonly (Pick<EarlierCheckpoint, 'size' | 'made_at'> & Partial<EarlierCheckpoint>)[],
): string[] {
  return [
    ...checkpoints.slice(0, maxListed).map(({ size, made_at, ended_at }) => {
      const end = ended_at === undefined ? '' : `, ended at ${ended_at.toISOString()}`
      return `  over ${counted(size, 'event')}, signed at ${made_at.toISOString()}${end}`
    }),
    ...moreThan(maxListed, checkpoints.length),
  ]
}

function provenText({ proven, checkpoints, events }: LogVerdict): string {
  if (!proven?.event) return `Nothing is proven: no checkpoint matches the ${counted(events, 'event')} of the log.`
  return (
    `The log is proven up to position ${proven.event.position}, ${eventText(proven.event)}: its first ${counted(proven.by.size, 'event')} ` +
    `are those of ${checkpointText(proven.by)}; ${counted(checkpoints, 'checkpoint')} matched.`
  )
}

/** What follows the last checkpoint of a log without a difference. */
function uncoveredText({ leaf, wrong, events, proven, treeSize }: LogVerdict): string[] {
  const size = proven?.by.size ?? 0
  if (wrong !== undefined || (leaf !== undefined && leaf.index >= size) || events <= size) return []
  const stored = Math.min(treeSize, events) - size
  const known = stored > 0 ? `, ${stored} of them as in the stored tree` : ''
  return [`No checkpoint covers what follows yet: ${counted(events - size, 'event')}${known}.`]
}
