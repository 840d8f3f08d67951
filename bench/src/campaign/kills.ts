// Kills random processes at random moments. The seed decides the order of the processes and the pauses.
import { setTimeout as pause } from 'node:timers/promises'
import type { Random } from './random.ts'
import type { Service } from './service.ts'

const [shortestPauseMs, longestPauseMs] = [100, 1_600]
/** The other kills may hit a system that is still recovering from the last one. */
const recoveredShare = 0.75

/** @returns the kills by process */
export async function killServices(
  services: readonly Service[],
  {
    kills,
    random,
    until,
    onKill,
  }: {
    readonly kills: number
    readonly random: Random
    readonly until: AbortSignal
    readonly onKill: (done: number) => void
  },
): Promise<Map<string, number>> {
  const counts = new Map(services.map(({ name }) => [name, 0]))
  for (let done = 1; done <= kills && !until.aborted; done++) {
    if (random.isIn(recoveredShare)) await Promise.all(services.map((each) => each.untilReady()))
    await pause(random.between(shortestPauseMs, longestPauseMs))
    const service = services[random.between(0, services.length - 1)]
    if (service === undefined) continue
    service.kill()
    counts.set(service.name, (counts.get(service.name) ?? 0) + 1)
    onKill(done)
  }
  return counts
}
