// Does what the README says, as printed, in an empty folder: `npm run newcomer`. Needs git, curl and the port 8080.
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Block, blocksOf, variablesOf } from './readme.ts'
import { sections } from './sections.ts'
import { createSession, openShell } from './session.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const say = (line: string) => void process.stdout.write(`${line}\n`)

/** As the README prints it. */
const port = 8080

if (await isTaken(port)) say(`NOT RUN: the README's commands need port ${port}, on which something listens`)
else process.exitCode = await runReadme()

async function runReadme(): Promise<number> {
  const directory = mkdtempSync(join(tmpdir(), 'paylog-newcomer-'))
  const clone = join(directory, 'paylog')
  execFileSync('git', ['clone', '--quiet', root, clone])
  const readme = readFileSync(join(clone, 'README.md'), 'utf8')
  const session = createSession(openShell(clone, cleanEnvironment(readme)), say)
  try {
    for (const [heading, blocks] of shellByHeading(readme)) {
      say(`## ${heading}`)
      const section = sections[heading]
      if (section === undefined) throw new Error(`Nobody has said what to do with the commands of ${heading}`)
      await section(blocks, session)
    }
  } finally {
    await session.system?.interrupt()
    rmSync(directory, { recursive: true, force: true })
  }
  const { ran, failed, leftOut } = session.totals()
  say(`${ran} commands of the README were run, ${failed} failed, ${leftOut} left out`)
  return failed > 0 || ran === 0 ? 1 : 0
}

function cleanEnvironment(readme: string): NodeJS.ProcessEnv {
  const ours = variablesOf(readme)
  const isOurs = (name: string) => ours.has(name) || /^(EXTERNAL_)?WEBHOOK/.test(name)
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !isOurs(name)))
}

function shellByHeading(markdown: string): Map<string, Block[]> {
  const found = new Map<string, Block[]>()
  for (const block of blocksOf(markdown).filter(({ language }) => language === 'sh'))
    found.set(block.heading, [...(found.get(block.heading) ?? []), block])
  return found
}

async function isTaken(wanted: number): Promise<boolean> {
  const socket = connect(wanted, '127.0.0.1')
  const found = await once(socket, 'connect').then(
    () => true,
    () => false,
  )
  socket.destroy()
  return found
}
