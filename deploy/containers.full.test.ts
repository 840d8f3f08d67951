// Plays the compose files on a real Docker engine: an image built from the Dockerfile, and stand-ins of the other images.
// The quick part runs in the full lane; `npm run containers` plays everything, which takes an hour more.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { findChromium, startChromium } from '@paylog/testing/chromium'
import { waitFor } from '@paylog/testing/waitFor'
import t, { type Test } from 'tap'
import { blocksOf, commandsOf } from '../tools/newcomer/readme.ts'
import { root } from './testing/composeFile.ts'
import { agreesWith, survivesKills, targetOf } from './testing/engine/agreement.ts'
import { type Engine, usableEngine } from './testing/engine/engine.ts'
import { makeSecrets, prepareLarge } from './testing/engine/largeStack.ts'
import type { Stack } from './testing/engine/stack.ts'
import { loadStandIns } from './testing/engine/standIns.ts'
import { namesWrongSecrets } from './testing/engine/wrongSecrets.ts'
import { startLedger } from './testing/ledger.ts'

const everything = process.env.CONTAINERS === 'all'
const timeoutMs = everything ? 5_400_000 : 1_200_000
/** Of the image above its base. */
const maxImageMb = 60

t.setTimeout(timeoutMs)
const engine = await usableEngine(t, (started) => loadStandIns(started, (line) => t.comment(line)))
if (typeof engine === 'string')
  t.test('containers', { skip: `NOT TESTED: ${engine}; no container is run` }, () => undefined)
else {
  const large = await prepareLarge(t, engine, 'large')

  await t.test('the image is built from the Dockerfile as it is, and is small', { timeout: timeoutMs }, async (t) => {
    await large.shell('docker build --network host --tag paylog:latest .')
    const sizeOf = async (image: string) =>
      Number(await engine.docker('image', 'inspect', '--format', '{{.Size}}', image)) / 1e6
    const size = (await sizeOf('paylog:latest')) - (await sizeOf('node:24.21.0-slim'))
    t.comment(`MEASURED: the image adds ${size.toFixed(1)} MB to its base`)
    t.ok(size <= maxImageMb, `${size.toFixed(1)} MB above its base, at most ${maxImageMb}`)
    await listsItsPackages(t, engine)
    const config = JSON.parse(await engine.docker('image', 'inspect', '--format', '{{json .Config}}', 'paylog:latest'))
    t.match(config, {
      User: 'node',
      Entrypoint: ['node'],
      StopSignal: 'SIGTERM',
      Labels: {
        'org.opencontainers.image.title': 'Paylog',
        'org.opencontainers.image.licenses': 'MIT',
        'paylog.sbom': '/app/sbom.cdx.json /app/console.cdx.json',
      },
    })
  })

  await t.test(
    'the commands of the README bring the trial up, and every container is healthy',
    { timeout: timeoutMs },
    async (t) => {
      const [secrets = '', up = '', ...more] = blocksUnder('With Docker').flatMap(commandsOf)
      t.same([secrets, more], ['deploy/makeSecrets.sh', []])
      await makeSecrets(large)
      const startedAt = performance.now()
      await large.shell(up)
      await large.healthy()
      t.comment(
        `MEASURED: the containers are up and healthy after ${Math.round((performance.now() - startedAt) / 1_000)} s`,
      )
      t.equal((await large.containers()).filter(({ state }) => state === 'running').length, 11)
    },
  )

  await t.test(
    'every container has a read-only root, no privileges and a limit of memory',
    { timeout: timeoutMs },
    (t) => isHardened(t, engine, large),
  )
  await t.test('every app reads its modules from the compile cache of the image', { timeout: timeoutMs }, (t) =>
    usesCompileCache(t, large),
  )
  await t.test("the README's tour over the edge", { timeout: timeoutMs }, (t) => tour(t, large))
  await t.test('the console shows the payment of the tour', { timeout: timeoutMs }, (t) =>
    consoleShowsPayments(t, large),
  )
  await t.test('a container that is killed loses and doubles nothing', { timeout: timeoutMs }, async (t) => {
    const names = [
      'eventstore',
      'postgres',
      'redis',
      'command-api',
      'query-api',
      'operator-api',
      'projector',
      'worker',
      'edge',
    ]
    await survivesKills(t, large, names)
  })
  await t.test(
    'a host that loses its power comes back with every container, and has lost and doubled nothing',
    { timeout: timeoutMs },
    (t) => survivesPowerCut(t, engine, large),
  )
  await t.test(
    'a wrong, empty or missing secret is one line of each start that names it, and does not show it',
    { timeout: timeoutMs },
    (t) => namesWrongSecrets(t, engine, large),
  )
}

/** Its two bills of materials: what runs, exactly, and what the console was built from. */
async function listsItsPackages(t: Test, engine: Engine) {
  const script = `const [fs, { dirname }] = [require('fs'), require('path')]
    const read = (file) => JSON.parse(fs.readFileSync(file, 'utf8'))
    const nested = fs.globSync(['node_modules/**/package.json', '{apps,packages}/*/{node_modules/**/,}package.json', 'projections/package.json'])
    const found = nested.filter((file) => /(^|\\/)(node_modules\\/(@[^/]+\\/)?[^/]+|(apps|packages)\\/[^/]+|projections)$/.test(dirname(file)))
    const packages = found.map(read).map(({ name, version }) => name + '@' + version)
    console.log(JSON.stringify({ packages, bill: read('sbom.cdx.json'), console: read('console.cdx.json') }))`
  const { packages, bill, console } = JSON.parse(
    await engine.docker('run', '--rm', '--network', 'none', 'paylog:latest', '-e', script),
  )
  const refsOf = ({ components }: { components: { 'bom-ref': string }[] }) => components.map((each) => each['bom-ref'])
  t.match([bill, console], Array(2).fill({ bomFormat: 'CycloneDX', specVersion: '1.5', version: 1 }))
  t.same([...new Set(refsOf(bill))].sort(), [...new Set(packages)].sort(), 'it lists the packages of the image')
  t.ok(refsOf(console).some((ref) => ref.startsWith('react@')))
}

async function isHardened(t: Test, engine: Engine, stack: Stack) {
  for (const { name, service } of (await stack.containers()).filter(({ state }) => state === 'running')) {
    if (service === 'receiver') continue
    const inspected = JSON.parse(await engine.docker('inspect', '--format', '{{json .HostConfig}}', name))
    t.ok(inspected.Memory > 0 && inspected.PidsLimit > 0, `${service} has limits of memory and processes`)
    // Asked in the container, as its own user.
    const inside = (command: string) => engine.docker('exec', name, 'sh', '-c', command)
    const status = await inside('cat /proc/self/status; touch /probe 2>&1 || true; id -u')
    t.match(status, /NoNewPrivs:\s+1/, `${service} gets no privileges`)
    const capabilities = /CapEff:\s+(\w+)/.exec(status)?.[1]
    // The edge may bind ports below 1024: capability 10.
    t.equal(Number.parseInt(capabilities ?? 'f', 16), service === 'edge' ? 1 << 10 : 0, `capabilities of ${service}`)
    t.match(status, /Read-only file system/, `${service} cannot write to its root`)
    if (service !== 'edge') t.notMatch(status, /\n0\s*$/, `${service} is not root`)
  }
}

async function usesCompileCache(t: Test, stack: Stack) {
  for (const service of ['command-api', 'worker']) {
    const main = `apps/${service}/src/main.ts`
    const text = await stack.compose(
      'exec',
      '-T',
      '-e',
      'NODE_DEBUG_NATIVE=COMPILE_CACHE',
      '-e',
      'PORT=none',
      '-e',
      'HEALTH_PORT=none',
      service,
      'sh',
      '-c',
      `node ${main} 2>&1 || true`,
    )
    const accepted = text.match(/cache for .* was accepted/g)?.length ?? 0
    t.ok(accepted > 100, `${accepted} modules of ${service} come from the cache`)
    t.same(text.match(/was rejected/g), null, service)
  }
}

/** Blocks of the README. */
function blocksUnder(title: string) {
  return blocksOf(readFileSync(join(root, 'README.md'), 'utf8')).filter(({ heading }) => heading === title)
}

/** Every command but those about the listener, which restart `npm start`. */
async function tour(t: Test, stack: Stack) {
  const lines = blocksUnder('A tour')
    .slice(0, -2)
    .map(({ text }) => text)
    .join('\n')
    .replaceAll('http://127.0.0.1:8080', stack.url)
    .replaceAll('npm run -s ops --', 'docker compose --env-file deploy/env.trial run --rm -T ops')
  const shown = await stack.shell(lines)
  for (const text of [
    '"status":"pending"',
    ' is succeeded.',
    '"status":"succeeded"',
    'PaymentSucceeded',
    '"code":"not_found"',
    '"amount_cents":500',
    '"address_type":"billing"',
    '"deleted":true',
  ])
    t.match(shown, text)
}

async function consoleShowsPayments(t: Test, stack: Stack) {
  const executable = await findChromium()
  if (executable === undefined) {
    t.comment('NOT TESTED: there is no Chromium, the console is not opened')
    return
  }
  const browser = await startChromium(t, executable)
  const page = await browser.newPage()
  const errors: string[] = []
  page.on('pageerror', (error) => errors.push(error.message))
  await page.goto(`${stack.url}/console#session=demo-admin-session`)
  await page.goto(`${stack.url}/console/payments`)
  await page.getByText('Two tickets').first().waitFor()
  t.same(errors, [])
}

async function survivesPowerCut(t: Test, engine: Engine, stack: Stack) {
  const ledger = startLedger(targetOf(stack))
  await waitFor(() => ledger.paid.size > 5, { what: 'payments' })
  const startedAt = performance.now()
  await engine.restart()
  await stack.healthy()
  t.comment(`MEASURED: healthy ${Math.round((performance.now() - startedAt) / 1_000)} s after the power was cut`)
  const before = ledger.paid.size
  await waitFor(() => ledger.paid.size > before + 5, { what: 'payments after the restart', timeoutMs: 180_000 })
  await ledger.stop()
  await agreesWith(t, stack, ledger)
}
