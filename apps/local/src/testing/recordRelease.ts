// Records what a version leaves behind, once for each release, for `releases.full.test.ts`:
// `node apps/local/src/testing/recordRelease.ts 1.0.0`.
import { mkdir, writeFile } from 'node:fs/promises'
import { argv, env } from 'node:process'
import { openDemoStore } from '../demo/demoStore.ts'
import { openWebhookEndpoint } from '../demo/webhookEndpoint.ts'
import { createPrivateSystem } from '../system.ts'
import { dumpTables } from './dumpTables.ts'
import { readEverything, releaseSettings, writeHistory } from './releaseHistory.ts'

const [, , version] = argv
if (version === undefined) throw new Error('usage: node apps/local/src/testing/recordRelease.ts VERSION')
const secret = `whsec_${Buffer.alloc(24, 7).toString('base64')}`
const endpoint = await openWebhookEndpoint(secret)
const system = await createPrivateSystem(env, {
  ...releaseSettings,
  WEBHOOK_1_ENABLED: 'true',
  WEBHOOK_1_URL: endpoint.url,
  WEBHOOK_1_EVENTS: 'all',
  WEBHOOK_1_SECRET: secret,
})
const undo: (() => Promise<void> | void)[] = [() => endpoint.close(), () => system.stop()]
try {
  const { base_url, environment } = await system.start()
  const store = await openDemoStore(environment, (step) => void undo.push(step))
  await writeHistory({ baseUrl: base_url, store, secret: environment.SANDBOX_WEBHOOK_SECRET ?? '' })
  const directory = new URL(`./releases/${version}/`, import.meta.url)
  await mkdir(directory, { recursive: true })
  const responses = await readEverything(base_url)
  await writeFile(new URL('responses.json', directory), `${JSON.stringify(responses, undefined, 1)}\n`)
  await writeFile(new URL('tables.sql', directory), await dumpTables(environment.DATABASE_URL ?? ''))
} finally {
  for (const step of undo.toReversed()) await step()
}
