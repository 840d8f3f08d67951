// The campaigns of the full lane: five minutes of faults, or TEST_CAMPAIGN_MINUTES, and thirty faults of a cluster's nodes.
// `npm run campaign` runs longer ones.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { startEventStore } from '@paylog/testing/eventStore'
import { freePort } from '@paylog/testing/processes'
import t, { type Test } from 'tap'
import { nodeKinds } from './faults/nodeKinds.ts'

const main = fileURLToPath(new URL('../main.ts', import.meta.url))
const node = fileURLToPath(new URL('../../../packages/testing/src/cluster/node.ts', import.meta.url))
const minutes = process.env.TEST_CAMPAIGN_MINUTES ?? '5'
const timeoutMs = 600_000
t.setTimeout(3 * timeoutMs)

/** Other tests run on the same cores: the load is small, and the system has more time to recover. */
async function runCampaign(t: Test, ...options: readonly string[]): Promise<void> {
  const words = [main, '--load', '2', '--limit', '120', '--slow', '30', '--logs', join(t.testdir(), 'logs'), ...options]
  // Its ports must not be those that this file has chosen.
  const { TAP_JOB_ID: _, ...env } = process.env
  const campaign = spawn(process.execPath, words, { stdio: ['ignore', 'pipe', 'pipe'], env })
  t.teardown(() => campaign.kill())
  const [report, errors, [code]] = await Promise.all([
    text(campaign.stdout),
    text(campaign.stderr),
    once(campaign, 'exit'),
  ])
  t.equal(code, 0, `${report}${errors}`)
  t.match(report, /^violations +0$/m)
  t.comment(report)
}

t.test('minutes of faults under load leave nothing that a judge from outside objects to', (t) => {
  t.setTimeout(timeoutMs)
  return runCampaign(t, '--minutes', minutes)
})

t.test('thirty faults of the nodes of a cluster under load leave nothing that the judge objects to', async (t) => {
  t.setTimeout(2 * timeoutMs)
  const log = new URL((await startEventStore(t)).connectionString).host
  const ports = [await freePort(), await freePort(), await freePort()]
  const commands = ports.flatMap((port) => {
    const peers = ports.filter((other) => other !== port)
    const times = '--election-ms 500'
    return ['--node', `'${process.execPath}' '${node}' --port ${port} --peers ${peers} --log ${log} ${times}`]
  })
  const hosts = ports.map((port) => `127.0.0.1:${port}`)
  const kinds = Object.keys(nodeKinds).join(',')
  await runCampaign(t, '--event-store', `esdb://${hosts}?tls=false`, ...commands, '--kinds', kinds, '--faults', '30')
})
