// Starts from what earlier versions wrote (`releases/<version>`): it must stay readable, and can be worked with.
import { readdir, readFile } from 'node:fs/promises'
import { createPaylogClient } from '@paylog/client/client'
import { freePort, startProcess } from '@paylog/testing/processes'
import { administer, createTestDatabase } from '@paylog/testing/testDatabase'
import t from 'tap'
import { dataDirectory } from './testing/dataDirectory.ts'
import { everythingFollowed, get, type RecordedGet, releaseSettings } from './testing/releaseHistory.ts'

const releases = new URL('./testing/releases/', import.meta.url)

for (const version of await readdir(releases)) {
  t.test(`what ${version} wrote is shown as ${version} showed it, and payments go on`, async (t) => {
    const { databaseUrl } = await createTestDatabase(t)
    await administer(databaseUrl, await readFile(new URL(`${version}/tables.sql`, releases), 'utf8'))
    const port = await freePort()
    const env = { ...releaseSettings, DATABASE_URL: databaseUrl, DATA_DIR: dataDirectory(t), PORT: String(port) }
    await startProcess(t, { script: new URL('./main.ts', import.meta.url), env })
    const baseUrl = `http://127.0.0.1:${port}`
    await everythingFollowed(baseUrl)

    const recorded: readonly RecordedGet[] = JSON.parse(
      await readFile(new URL(`${version}/responses.json`, releases), 'utf8'),
    )
    t.ok(recorded.length > 40, `${recorded.length} recorded responses`)
    for (const { as, path, body } of recorded) t.match(await get(baseUrl, { as, path }), body, `${as} GET ${path}`)

    const admin = createPaylogClient({ baseUrl, credential: { session: 'demo-admin-session' } })
    const { body } = await admin.listAnyPayments({ query: { status: 'succeeded' } })
    const left = body.data.find(({ amount_received_cents: got, amount_refunded_cents: back }) => got > 0 && back === 0)
    const refund = await admin.createRefund({ path: { id: left?.id ?? '' }, body: { amount_cents: 100 } })
    t.equal(refund.body.data.status, 'succeeded')
    await everythingFollowed(baseUrl)
    t.match(await get(baseUrl, { as: 'administrator', path: `/admin/payments/${left?.id}` }), {
      data: { amount_refunded_cents: 100 },
    })
  })
}
