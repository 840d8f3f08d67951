// The judge's rules for the log by itself: it only grows, its streams have no gaps, an export has the same, and its tree is right.
import { openCheckpoint, rootsAt } from './auditTree.ts'
import type { LogEvent, Observations, Violation } from './observations.ts'

const describe = ({ stream, revision, type }: LogEvent) => `${stream}@${revision} (${type})`

export function judgeLog({ log, earlier_log, exported, exported_from }: Observations): Violation[] {
  const found: Violation[] = []
  const violate = (rule: string, story: string) => void found.push({ rule, story })
  const next = new Map<string, number>()
  const ids = new Map<string, LogEvent>()
  for (const event of log) {
    const expected = next.get(event.stream) ?? 0
    if (event.revision !== expected) violate('gap in a stream', `${describe(event)} instead of revision ${expected}`)
    next.set(event.stream, event.revision + 1)
    const same = ids.get(event.id)
    if (same !== undefined) violate('event twice in the log', `${describe(same)} and ${describe(event)} have one id`)
    ids.set(event.id, event)
  }
  const changed = earlier_log.findIndex(
    ({ position, leaf }, index) => log[index]?.position !== position || log[index]?.leaf !== leaf,
  )
  const [before, now] = [earlier_log[changed], log[changed]]
  if (before !== undefined)
    violate('log rewritten', `${describe(before)} was read before, now ${now ? describe(now) : 'nothing'}`)
  const read = log.slice(exported_from)
  const differs = Array.from({ length: Math.max(read.length, exported.length) }).findIndex(
    (_, index) => read[index]?.leaf !== exported[index],
  )
  const missing = read[differs]
  if (differs >= 0)
    violate('export differs from the log', missing ? `at ${describe(missing)}` : 'it has more events than the log')
  return found
}

/** Each published checkpoint has to be signed, and to be that of the first events of the log. Then they also fit each other. */
export function judgeAudit({ log, earlier_log, checkpoints, verifier_key }: Observations): Violation[] {
  const opened = checkpoints.map((note) => ({ note, checkpoint: openCheckpoint(note, verifier_key) }))
  const roots = rootsAt(
    log.map(({ leaf }) => leaf),
    new Set(opened.map(({ checkpoint }) => checkpoint?.size ?? 0)),
  )
  const largest = Math.max(0, ...roots.keys())
  const isBehind = largest < earlier_log.length
  const behind = {
    rule: 'checkpoint missing',
    story: `none covers more than ${largest} of ${earlier_log.length} events`,
  }
  const wrong = opened.flatMap(({ note, checkpoint }): Violation[] => {
    if (checkpoint === undefined) return [{ rule: 'checkpoint not signed', story: note.replaceAll('\n', ' ') }]
    const { size, root } = checkpoint
    if (roots.get(size) === root) return []
    const last = log[size - 1]
    const story = `the checkpoint over ${size} events, ${last ? `up to ${describe(last)}` : 'more than the log has'}`
    return [{ rule: 'checkpoint contradicts the log', story }]
  })
  return isBehind ? [...wrong, behind] : wrong
}
