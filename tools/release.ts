// `npm run release`: writes what a release holds into one folder. Nothing is uploaded.
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import {
  createWriteStream,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join, resolve } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { createGzip } from 'node:zlib'
import { buildClient } from '../packages/client/build.ts'

const usage = 'npm run release -- [--without-image] [FOLDER, default: release]'
const root = fileURLToPath(new URL('..', import.meta.url))

/** Its bills of materials, as its Dockerfile makes them. */
const bills = ['sbom.cdx.json', 'console.cdx.json']

type Release = { readonly version: string; readonly commit: string; readonly date: string }

class ReleaseError extends Error {}

function git(...args: readonly string[]): string {
  return execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim()
}

/** @throws ReleaseError */
function check(folder: string, withImage: boolean): void {
  if (git('status', '--porcelain') !== '') throw new ReleaseError('The worktree has changes that are not committed.')
  if (existsSync(folder) && readdirSync(folder).length > 0) throw new ReleaseError(`${folder} is not empty.`)
  // `docker info` fails without an engine, `docker version` of some versions does not.
  if (withImage && spawnSync('docker', ['info'], { stdio: 'ignore' }).status !== 0)
    throw new ReleaseError(
      'No Docker engine is reachable, so the image is missing: start one, or give --without-image.',
    )
}

function currentRelease(): Release {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  return { version, commit: git('rev-parse', 'HEAD'), date: git('log', '-1', '--format=%cI') }
}

/** The changelog's section `Unreleased` if it says something, because the commit then is later than its version; or the version's. */
function notesOf({ version, commit }: Release): string {
  const changelog = readFileSync(join(root, 'CHANGELOG.md'), 'utf8')
  const sections = new Map(
    changelog.split(/^## /m).map((section) => {
      const [title = '', ...lines] = section.split('\n')
      return [title.split(' ')[0], lines.join('\n').trim()] as const
    }),
  )
  const unreleased = sections.get('Unreleased') || undefined
  const notes = unreleased ?? sections.get(version)
  if (notes === undefined) throw new ReleaseError(`CHANGELOG.md has no section of ${version}.`)
  return `# Paylog ${version}${unreleased === undefined ? '' : ', and what came after it'}\n\nCommit ${commit}\n\n${notes}\n`
}

/** @throws ReleaseError when the program fails, which has said why */
async function ended(child: ChildProcess): Promise<void> {
  const [code] = child.exitCode === null ? await once(child, 'close') : [child.exitCode]
  if (code !== 0) throw new ReleaseError(`${child.spawnargs.slice(0, 2).join(' ')} ended with ${code}.`)
}

/** The image, and what is in it. */
async function saveImage(folder: string, { version, commit, date }: Release): Promise<void> {
  const tag = `paylog:${version}`
  const labels = { version, revision: commit, created: date }
  const labelled = Object.entries(labels).flatMap(([name, value]) => [
    '--label',
    `org.opencontainers.image.${name}=${value}`,
  ])
  await ended(spawn('docker', ['build', '--tag', tag, ...labelled, root], { stdio: 'inherit' }))
  for (const name of bills) {
    const args = ['run', '--rm', '--network', 'none', '--entrypoint', 'cat', tag, name]
    writeFileSync(join(folder, name), execFileSync('docker', args, { maxBuffer: 64 * 1024 * 1024 }))
  }
  const saving = spawn('docker', ['save', tag], { stdio: ['ignore', 'pipe', 'inherit'] })
  await Promise.all([
    ended(saving),
    pipeline(saving.stdout, createGzip(), createWriteStream(join(folder, `paylog-image-${version}.tar.gz`))),
  ])
}

/** For `sha256sum -c`. */
function writeSums(folder: string): void {
  const sums = readdirSync(folder)
    .toSorted()
    .map(
      (name) =>
        `${createHash('sha256')
          .update(readFileSync(join(folder, name)))
          .digest('hex')}  ${name}\n`,
    )
  writeFileSync(join(folder, 'SHA256SUMS'), sums.join(''))
}

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    options: { 'without-image': { type: 'boolean', default: false } },
    allowPositionals: true,
  })
  const [named = join(root, 'release'), ...others] = positionals
  if (others.length > 0) throw new ReleaseError(usage)
  const folder = resolve(named)
  const withImage = !values['without-image']
  check(folder, withImage)
  // Renamed at the end, so that a folder never holds half a release.
  const draft = `${folder}.${process.pid}`
  mkdirSync(draft, { recursive: true })
  try {
    await writeRelease(draft, withImage)
    renameSync(draft, folder)
  } finally {
    rmSync(draft, { recursive: true, force: true })
  }
  process.stdout.write(`${folder}: ${readdirSync(folder).join(', ')}\n`)
}

async function writeRelease(folder: string, withImage: boolean): Promise<void> {
  const release = currentRelease()
  writeFileSync(join(folder, 'NOTES.md'), notesOf(release))
  execFileSync('npm', ['pack', buildClient(), '--pack-destination', folder, '--silent'], { cwd: root, stdio: 'ignore' })
  if (withImage) await saveImage(folder, release)
  writeSums(folder)
}

try {
  await main()
} catch (error) {
  if (!(error instanceof ReleaseError)) throw error
  process.stderr.write(`${error.message}\n`)
  process.exitCode = 1
}
