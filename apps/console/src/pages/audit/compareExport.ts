// What the page shows of the comparison of an export.
import {
  type Compared,
  type CompareOptions,
  compareExport,
  type Finding,
} from '@paylog/event-store/export/compareExport'
import { createSha256 } from './sha256.ts'

/** `line` is null for a missing event; `id` and `position` are null for a line that is no event. */
export type FoundEvent = { readonly line: number | null; readonly id: string | null; readonly position: string | null }
export type EventFindingKind = 'changed' | 'missing' | 'extra' | 'out_of_order'
type EventFinding = Extract<Finding, { kind: EventFindingKind }>
type ListedFinding = Exclude<Finding, EventFinding>

export type Comparison = Compared & {
  readonly isEqual: boolean
  readonly listed: readonly ListedFinding[]
  readonly found: Readonly<Record<EventFindingKind, { readonly count: number; readonly first: readonly FoundEvent[] }>>
}

/** The events of each kind that are listed. The others are counted. */
export const maxListed = 20

/** @throws ApiError; errors of reading the file; the reason of the signal */
export async function compare(options: Omit<CompareOptions, 'hash' | 'onFinding'>): Promise<Comparison> {
  const listed: ListedFinding[] = []
  const noneFound = () => ({ count: 0, first: [] as FoundEvent[] })
  const found = { changed: noneFound(), missing: noneFound(), extra: noneFound(), out_of_order: noneFound() }
  let isEqual = true
  const compared = await compareExport({
    ...options,
    hash: createSha256(),
    onFinding(finding) {
      isEqual = false
      if (!isOfEvent(finding)) return void listed.push(finding)
      const list = found[finding.kind]
      list.count++
      if (list.first.length < maxListed) list.first.push(eventOf(finding))
    },
  })
  return { ...compared, isEqual, listed, found }
}

const isOfEvent = (finding: Finding): finding is EventFinding => 'line' in finding || 'expected' in finding

function eventOf(finding: EventFinding): FoundEvent {
  const line = 'line' in finding ? finding.line : undefined
  const { id, position } = 'expected' in finding ? finding.expected : finding.line
  return { line: line?.number ?? null, id: id ?? null, position: position?.toString() ?? null }
}
