// The package as others get it: packed, and installed in an empty folder, where the code of docs/client.md is checked and run.
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'
import { freePort, startProcess } from '@paylog/testing/processes'
import { startSystem } from '@paylog/testing/system'
import { waitFor } from '@paylog/testing/waitFor'
import { rolldown } from 'rolldown'
import t from 'tap'

const root = fileURLToPath(new URL('../../../', import.meta.url))
const folder = await mkdtemp(join(tmpdir(), 'paylog-client-'))
t.teardown(() => rm(folder, { recursive: true }))

/** Runs a program in the folder, without the options that tap gives to every Node. */
const run = (program: string, args: readonly string[]) =>
  promisify(execFile)(program, args, { cwd: folder, env: { ...process.env, NODE_OPTIONS: '' } })
const npm = (...args: readonly string[]) => run('npm', [...args, '--no-audit', '--no-fund', '--prefer-offline'])

await run(process.execPath, [join(root, 'packages/client/build.ts')])
const [packed] = JSON.parse((await npm('pack', join(root, 'packages/client/dist'), '--json')).stdout)
await writeFile(join(folder, 'package.json'), '{ "private": true, "type": "module" }')
await npm('install', '--prefix', folder, packed.filename)

const port = await freePort()
const secret = `whsec_${Buffer.alloc(24, 7).toString('base64')}`
const { baseUrl } = await startSystem(t, {
  WEBHOOK_1_ENABLED: 'true',
  WEBHOOK_1_URL: `http://127.0.0.1:${port}`,
  WEBHOOK_1_SECRET: secret,
})

const page = await readFile(join(root, 'docs/client.md'), 'utf8')
const blocks = [...page.matchAll(/^```ts\n(.*?)^```$/gms)].map(([, code = '']) => code)
const tour = blocks.join('\n').replaceAll('http://127.0.0.1:8080', baseUrl).replaceAll('4000', String(port))
// What a supervisor gets from an app.
await writeFile(join(folder, 'tour.ts'), `${tour}\nprocess.send?.({ type: 'ready' })\n`)
await writeFile(
  join(folder, 'browser.ts'),
  `import { createPaylogClient, type Schemas } from '@paylog/client'
import { PaylogError } from '@paylog/client/errors'
import { operationRoutes } from '@paylog/client/operations'
import { type WebhookMessage, verifyWebhook } from '@paylog/client/verifyWebhook'

const paylog = createPaylogClient({ baseUrl: location.origin })
const payment: Schemas['Payment'] = (await paylog.getPayment({ path: { id: location.hash } })).body.data
const message: WebhookMessage = verifyWebhook('{}', new Headers(), 'whsec_')
document.title = [payment.status, message.event, operationRoutes.getPayment.path, PaylogError.name].join()
`,
)

/** The messages of a compiler of this repository, with `skipLibCheck` off. */
async function compilerMessages(compiler: string, files: readonly string[], options: object): Promise<string> {
  const compilerOptions = { strict: true, target: 'es2022', typeRoots: [join(root, 'node_modules/@types')], ...options }
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files }))
  const { stdout } = await run(join(root, compiler), ['-p', folder]).catch(
    (failed: { readonly stdout: string }) => failed,
  )
  return stdout
}

/** @returns the program, or undefined where npm cannot install it */
async function installedNode(major: number): Promise<string | undefined> {
  if (process.versions.node.startsWith(`${major}.`)) return process.execPath
  const cache = join(root, `node_modules/.cache/node-${major}`)
  const program = join(cache, 'node_modules/.bin/node')
  // Its install script downloads the program.
  if (!existsSync(program))
    await npm('install', '--prefix', cache, '--no-save', '--ignore-scripts=false', `node@${major}`).catch(
      () => undefined,
    )
  return existsSync(program) ? program : undefined
}

t.test('the package has code, types, licence and page, and needs only what npm has', async (t) => {
  const names: readonly string[] = packed.files.map(({ path }: { readonly path: string }) => path)
  const modules = ['client', 'errors', 'operations', 'retries', 'verifyWebhook']
  const expected = [...modules.flatMap((name) => [`${name}.js`, `${name}.d.ts`]), 'schema.d.ts']
  t.same(names.toSorted(), [...expected, 'LICENSE', 'README.md', 'package.json'].toSorted())
  const manifest = JSON.parse(await readFile(join(folder, 'node_modules/@paylog/client/package.json'), 'utf8'))
  t.same(Object.keys(manifest.dependencies), ['openapi-fetch', 'standardwebhooks'])
  for (const field of ['private', 'scripts', 'devDependencies']) t.notOk(field in manifest, field)
})

t.test('the types have no errors with nodenext, with bundler and without the types of Node', async (t) => {
  t.equal(blocks.length, 6)
  const nodenext = { module: 'nodenext', lib: ['es2022'], types: ['node'], outDir: 'compiled' }
  const bundler = { module: 'esnext', moduleResolution: 'bundler', lib: ['es2022', 'dom'], types: [], noEmit: true }
  for (const compiler of ['node_modules/.bin/tsc', 'packages/client/node_modules/.bin/tsc']) {
    t.equal(await compilerMessages(compiler, ['tour.ts'], nodenext), '')
    t.equal(await compilerMessages(compiler, ['browser.ts'], bundler), '')
  }
})

for (const major of [20, 22, 24]) {
  const program = await installedNode(major)
  const skip = program === undefined && `NOT TESTED: npm has no Node ${major} here, so the client is not run on it`
  t.test(
    `on Node ${major} the code of docs/client.md does what the page says, and require works`,
    { skip },
    async (t) => {
      const script = pathToFileURL(join(folder, 'compiled/tour.js'))
      const started = await startProcess(t, { program, script, env: { WEBHOOK_SECRET: secret, NODE_OPTIONS: '' } })
      await waitFor(() => started.output().includes('payment.refunded'), { what: 'the webhook' })
      t.same(started.output().trim().split('\n'), [
        'pending',
        'true',
        'true',
        'payment_not_refundable pending true',
        'payment.refunded 700 true',
      ])
      await started.stop()
      const required = 'console.log(process.versions.node, typeof require("@paylog/client").createPaylogClient)'
      t.match((await run(program ?? '', ['--input-type=commonjs', '-e', required])).stdout, `${major}.`)
    },
  )
}

t.test('a bundle for browsers has the client, needs nothing of Node and is small', async (t) => {
  const bundle = await rolldown({ input: join(folder, 'browser.ts'), platform: 'browser' })
  const [chunk, ...others] = (await bundle.generate({ minify: true })).output
  t.same([chunk.imports, chunk.dynamicImports, others], [[], [], []])
  t.notMatch(chunk.code, /\brequire\(|node:/)
  const compressed = gzipSync(chunk.code).length
  t.comment(`bundle for browsers: ${chunk.code.length} bytes, ${compressed} compressed`)
  t.ok(compressed < 10_000, `${compressed} bytes`)
})
