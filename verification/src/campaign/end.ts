// What is judged once, when the load is over: the logs of a cluster's nodes, and the product's own checks.
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { temporaryDirectory } from '@paylog/bench/harness/privatePostgres'
import { judgeNodes } from './judge/judgeNodes.ts'
import type { Violation } from './judge/observations.ts'
import type { EventStoreNodes } from './system/nodes.ts'
import type { CampaignSystem } from './system/system.ts'

/** A follower may be behind for a moment. */
const patienceMs = 30_000
const retryPauseMs = 1_000

export async function judgeEnd(stack: AsyncDisposableStack, { cluster, ops }: CampaignSystem): Promise<Violation[]> {
  const file = join(await temporaryDirectory(stack), 'export.ndjson')
  const found = cluster === undefined ? [] : await judgeLogsOf(cluster)
  for (const words of [
    ['projections', 'verify', '--all'],
    ['audit', 'verify'],
    ['streams', 'export', '--out', file],
    ['streams', 'verify-export', file],
  ]) {
    const problem = await ops(...words)
    if (problem !== undefined) found.push({ rule: 'check of ops failed', story: `ops ${words.join(' ')}: ${problem}` })
  }
  return found
}

async function judgeLogsOf(nodes: EventStoreNodes): Promise<Violation[]> {
  await nodes.untilWhole()
  const leader = nodes.leader()
  const leaderFirst = nodes.all.toSorted((a, b) => Number(b === leader) - Number(a === leader))
  for (const deadline = performance.now() + patienceMs; ; await pause(retryPauseMs)) {
    const logs = new Map<string, Awaited<ReturnType<(typeof leaderFirst)[number]['calls']['readLog']>>>()
    for (const { process, calls } of leaderFirst) logs.set(process.name, await calls.readLog())
    const found = judgeNodes(logs)
    if (found.length === 0 || performance.now() > deadline) return found
  }
}
