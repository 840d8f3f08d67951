// Exports that the page writes are those of the command line, and the page finds a changed byte.
import { execFile } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { newSigningKey } from '@paylog/audit-log/note'
import type { TestSystem } from '@paylog/testing/system'
import { waitFor } from '@paylog/testing/waitFor'
import type { Page } from 'playwright-core'
import t from 'tap'
import { admin, consoleTests, textOf } from './consoleHarness.ts'

const run = promisify(execFile)
const ops = fileURLToPath(new URL('../../ops/src/main.ts', import.meta.url))
const { signingKey, verifierKey } = newSigningKey('payments.example.com')
const test = await consoleTests(t, {
  payments: 200,
  env: { AUDIT_SIGNING_KEY: signingKey, AUDIT_CHECKPOINT_INTERVAL: '1s' },
})

async function verify(page: Page, files: readonly string[]): Promise<string> {
  await page.getByRole('button', { name: 'Choose files' }).waitFor()
  await page.locator('input[type=file]').setInputFiles([...files])
  await page.getByRole('button', { name: 'Verify', exact: true }).click()
  const verdict = page.getByText(/matches its manifest and the log|does not match/).first()
  await verdict.waitFor()
  return await textOf(page.getByRole('main'))
}

/** Waits until a checkpoint covers the last payment. */
async function untilSigned({ baseUrl }: TestSystem): Promise<void> {
  const get = async (path: string) => await (await fetch(`${baseUrl}/admin/events${path}`, { headers: admin })).text()
  const lines = (await get('?type=PaymentInitiated&limit=5000')).trim().split('\n')
  const { position } = JSON.parse(lines.at(-1) ?? '')
  const isSigned = async () => JSON.parse(await get(`/checkpoint?last_position=${position}&count=1`)).data !== null
  await waitFor(isSigned, { what: 'a signed checkpoint' })
}

test('an export of the page is that of ops, and a changed byte in it is found', async (t, { system, open }) => {
  const page = await open('/payments')
  // Without the browser's dialog for a file, which a test cannot use, the page makes a download.
  await page.addInitScript('delete window.showSaveFilePicker')
  await page.goto(`${system.baseUrl}/console/audit`)
  await page.getByLabel('Event type').fill('PaymentInitiated')
  const downloads: { name: string; path: string }[] = []
  const directory = t.testdir()
  page.on('download', async (download) => {
    const path = `${directory}/${download.suggestedFilename()}`
    await download.saveAs(path)
    downloads.push({ name: download.suggestedFilename(), path })
  })
  await untilSigned(system)
  await page.getByRole('button', { name: 'Export', exact: true }).click()
  await page.getByText(/^Exported 200 events/).waitFor()
  while (downloads.length < 2) await page.waitForTimeout(50)
  const manifest = downloads.find(({ name }) => name.endsWith('.manifest.json'))?.path ?? ''
  const file = manifest.replace('.manifest.json', '')

  const env = { ...process.env, EVENTSTORE_URL: system.eventStoreUrl, NODE_OPTIONS: '' }
  const checked = await run(process.execPath, [ops, 'streams', 'verify-export', file, '--key', verifierKey], { env })
  t.match(checked.stdout, /200 events/)
  t.match(checked.stdout, /payments\.example\.com/, 'the checkpoint in the manifest has the right signature')
  t.match(await verify(page, [file, manifest]), /matches its manifest and the log/)

  const text = await readFile(file, 'utf8')
  await writeFile(file, text.replace(/(?<=total_cents\W+)1100/, '1101'))
  await page.reload()
  t.match(await verify(page, [file, manifest]), /does not match/)
})
