// Runs the commands of the README and the docs in a fresh clone, as on another person's machine: its folders have a space
// and a letter outside ASCII, its time zone and language are others. `npm run newcomer` needs git and curl.
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Block, blocksOf, variablesOf } from './readme.ts'
import { openShell } from './shell.ts'
import { beginVisit } from './visit.ts'
import { pages, runAsPrinted } from './walk.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const print = (line: string) => void process.stdout.write(`${line}\n`)

/** The address in the pages, which is replaced by one with a free port. */
const printedUrl = 'http://127.0.0.1:8080'

process.exitCode = await walkThrough()

async function walkThrough(): Promise<number> {
  const directory = mkdtempSync(join(tmpdir(), 'paylog-newcomer-'))
  const clone = join(directory, 'My Projets', 'päylog')
  execFileSync('git', ['clone', '--quiet', root, clone])
  const port = await freePort()
  const textOf = (page: string) =>
    readFileSync(join(clone, page), 'utf8').replaceAll(printedUrl, `http://127.0.0.1:${port}`)
  const environment = environmentOfNewcomer(textOf('docs/configuration.md'))
  const visit = beginVisit(openShell(clone, { ...environment, PORT: String(port) }), print)
  try {
    for (const { page, sections = {} } of pages) {
      const blocks = shellByHeading(textOf(page))
      for (const heading of new Set([...Object.keys(sections), ...blocks.keys()])) {
        print(`## ${page}: ${heading}`)
        const commands = blocks.get(heading)
        if (commands === undefined) throw new Error(`${page} has no commands under the heading ${heading}`)
        await (sections[heading] ?? runAsPrinted)(commands, visit)
      }
    }
  } finally {
    await visit.system?.interrupt()
    rmSync(directory, { recursive: true, force: true })
  }
  const { ran, failed, skipped } = visit.totals()
  print(`${ran} commands of the docs were run, ${failed} failed, ${skipped} skipped`)
  return failed > 0 || ran === 0 ? 1 : 0
}

/** @param configuration the page whose tables name our variables */
function environmentOfNewcomer(configuration: string): NodeJS.ProcessEnv {
  const ours = variablesOf(configuration)
  // LC_ALL and LANGUAGE would win over LANG.
  const isOurs = (name: string) => ours.has(name) || /^((EXTERNAL_)?WEBHOOK|LC_|LANGUAGE$)/.test(name)
  const { locale, timeZone } = Intl.DateTimeFormat().resolvedOptions()
  return {
    ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !isOurs(name))),
    TZ: timeZone === 'America/St_Johns' ? 'Asia/Tokyo' : 'America/St_Johns',
    LANG: locale.startsWith('tr') ? 'de_DE.UTF-8' : 'tr_TR.UTF-8',
  }
}

function shellByHeading(markdown: string): Map<string, Block[]> {
  const found = new Map<string, Block[]>()
  for (const block of blocksOf(markdown).filter(({ language }) => language === 'sh'))
    found.set(block.heading, [...(found.get(block.heading) ?? []), block])
  return found
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  if (address === null || typeof address === 'string') throw new Error('No free port')
  return address.port
}
