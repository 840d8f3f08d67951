// The judge's rule for a cluster: its nodes have one log.
import type { NodeEvent } from '../system/nodeCalls.ts'
import type { Violation } from './observations.ts'

/**
 * @param logs by the names of the nodes, read one after the other while nobody wrote but the server
 * @returns differences up to the end of the first
 */
export function judgeNodes(logs: ReadonlyMap<string, readonly NodeEvent[]>): Violation[] {
  const [[firstName, first] = ['', []], ...others] = [...logs]
  const end = first.at(-1)?.position ?? 0n
  return others.flatMap(([name, whole]): Violation[] => {
    const log = whole.filter(({ position }) => position <= end)
    const length = Math.max(first.length, log.length)
    const index = Array.from({ length }).findIndex((_, place) => first[place]?.hash !== log[place]?.hash)
    if (index < 0) return []
    const [ours, theirs] = [first[index]?.name ?? 'nothing', log[index]?.name ?? 'nothing']
    return [
      { rule: 'logs of nodes differ', story: `event ${index + 1}: ${firstName} has ${ours}, ${name} has ${theirs}` },
    ]
  })
}
