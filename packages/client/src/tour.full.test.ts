// Checks and runs the code of docs/client.md as one program, against the whole system.
import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { freePort, startProcess } from '@paylog/testing/processes'
import { startSystem } from '@paylog/testing/system'
import { waitFor } from '@paylog/testing/waitFor'
import t from 'tap'

const page = await readFile(new URL('../../../docs/client.md', import.meta.url), 'utf8')
const blocks = [...page.matchAll(/^```ts\n(.*?)^```$/gms)].map(([, code = '']) => code)
const secret = `whsec_${Buffer.alloc(24, 7).toString('base64')}`

const port = await freePort()
const { baseUrl } = await startSystem(t, {
  WEBHOOK_1_ENABLED: 'true',
  WEBHOOK_1_URL: `http://127.0.0.1:${port}`,
  WEBHOOK_1_SECRET: secret,
})

/** @returns the file of the program, in a folder of this package, where Node and the compiler find it by its name */
async function writeTour(): Promise<URL> {
  const folder = await mkdtemp(fileURLToPath(new URL('../.tour-', import.meta.url)))
  t.teardown(() => rm(folder, { recursive: true }))
  const program = blocks.join('\n').replaceAll('http://127.0.0.1:8080', baseUrl).replaceAll('4000', String(port))
  // What a supervisor gets from an app.
  await writeFile(`${folder}/tour.ts`, `${program}\nprocess.send?.({ type: 'ready' })\n`)
  await writeFile(
    `${folder}/tsconfig.json`,
    JSON.stringify({ extends: '../../../tsconfig.json', include: ['tour.ts'] }),
  )
  return pathToFileURL(`${folder}/tour.ts`)
}
const script = await writeTour()

t.test('the code of docs/client.md has no type errors', async (t) => {
  t.equal(blocks.length, 6)
  const compiler = fileURLToPath(new URL('../../../node_modules/.bin/tsc', import.meta.url))
  const project = fileURLToPath(new URL('./', script))
  // Without the options that tap gives to every Node.
  const env = { PATH: process.env.PATH }
  const { stdout, stderr } = await promisify(execFile)(compiler, ['-p', project], { env }).catch(
    (failed: { readonly stdout: string; readonly stderr: string }) => failed,
  )
  t.equal(stdout + stderr, '')
})

t.test('the code of docs/client.md does what the page says', async (t) => {
  const tour = await startProcess(t, { script, env: { WEBHOOK_SECRET: secret } })
  await waitFor(() => tour.output().includes('payment.refunded'), { what: 'the webhook' })
  t.same(tour.output().trim().split('\n'), [
    'pending',
    'true',
    'true',
    'payment_not_refundable pending true',
    'payment.refunded 700 true',
  ])
})
