// Makes stand-ins of the base images, because no registry can be reached where the tests run. They are kept for later runs.
import { createHash } from 'node:crypto'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Engine, output } from './engine.ts'

const recipe = fileURLToPath(new URL('standIns', import.meta.url))
const suite = 'trixie'
const packages = ['ca-certificates', 'postgresql-17', 'redis-server', 'caddy', 'curl', 'wget', 'openssl']
const certificates = '/etc/ssl/certs/ca-certificates.crt'

/** The names that docker-compose.yml and the Dockerfile use, by stage of the recipe. */
const images = {
  node: 'node:24.21.0-slim',
  postgres: 'postgres:17.10',
  redis: 'redis:7.4.9',
  caddy: 'caddy:2.11.4',
} as const

/** Loads the stand-ins into an engine; the first run on a machine makes them, from Debian's packages and the running Node. */
export async function loadStandIns(engine: Engine, print: (line: string) => void): Promise<void> {
  const cache = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'paylog')
  const file = join(cache, `stand-ins-${versionOfRecipe()}.tar`)
  if (existsSync(file)) {
    await engine.docker('load', '--input', file)
    return
  }
  print(`making stand-ins of the base images, once: ${file}`)
  await makeStandIns(engine)
  mkdirSync(cache, { recursive: true })
  const unfinished = `${file}.${process.pid}`
  await engine.docker('save', '--output', unfinished, ...Object.values(images))
  renameSync(unfinished, file)
}

function versionOfRecipe(): string {
  const hash = createHash('sha256').update([process.version, suite, ...packages].join(' '))
  for (const name of ['Dockerfile', 'postgres.sh']) hash.update(readFileSync(join(recipe, name)))
  return hash.digest('hex').slice(0, 16)
}

async function makeStandIns(engine: Engine): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'paylog-stand-ins-'))
  try {
    const root = join(directory, 'root')
    const mirror = debianMirror()
    await output(
      'debootstrap',
      ['--variant=minbase', `--include=${packages.join(',')}`, suite, root, mirror],
      systemEnv(),
    )
    const archive = join(directory, 'root.tar')
    await output(
      'tar',
      ['-C', root, '--exclude=./var/cache/apt/*', '--exclude=./usr/share/doc/*', '-cf', archive, '.'],
      systemEnv(),
    )
    rmSync(root, { recursive: true })
    await engine.docker('import', archive, 'paylog-base')
    const context = join(directory, 'context')
    cpSync(recipe, context, { recursive: true })
    cpSync(process.execPath, join(context, 'node'), { dereference: true })
    const npm = await output('sh', ['-c', 'readlink -f "$(command -v npm)"'], systemEnv())
    cpSync(join(dirname(npm.trim()), '..'), join(context, 'npm'), { recursive: true, dereference: true })
    // The packages of the project come the way by which this machine gets its own.
    const npmrc = join(homedir(), '.npmrc')
    writeFileSync(join(context, 'npmrc'), existsSync(npmrc) ? withoutPaths(readFileSync(npmrc, 'utf8')) : '')
    cpSync(certificates, join(context, 'certificates.crt'), { dereference: true })
    for (const [stage, image] of Object.entries(images))
      await engine.docker(
        'build',
        '--network',
        'none',
        '--build-arg',
        'BASE=paylog-base',
        '--target',
        stage,
        '--tag',
        image,
        context,
      )
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

/**
 * An image of KurrentDB as docker-compose.yml names it, from a node that was built from source on this machine.
 * @param node the folder of its program @param dotnet the folder of the runtime
 */
export async function loadKurrentDb(engine: Engine, node: string, dotnet: string): Promise<void> {
  const context = join(engine.directory, 'kurrentdb')
  cpSync(recipe, context, { recursive: true })
  cpSync(node, join(context, 'server'), { recursive: true })
  cpSync(dotnet, join(context, 'dotnet'), { recursive: true })
  const image = 'docker.kurrent.io/kurrent-lts/kurrentdb:26.0.3'
  await engine.docker(
    'build',
    '--network',
    'none',
    '--build-arg',
    `BASE=${images.caddy}`,
    '--file',
    join(context, 'kurrentdb.Dockerfile'),
    '--tag',
    image,
    context,
  )
  rmSync(context, { recursive: true })
}

const withoutPaths = (npmrc: string) => npmrc.replaceAll(/^nodedir=.*$/gm, '')
const systemEnv = () => ({ PATH: process.env.PATH ?? '', HOME: homedir(), LC_ALL: 'C' })

/** The mirror of the machine's own package sources. */
function debianMirror(): string {
  const sources = ['/etc/apt/sources.list.d/debian.sources', '/etc/apt/sources.list']
    .filter((file) => existsSync(file))
    .map((file) => readFileSync(file, 'utf8'))
  return (
    /https?:\/\/\S+\/debian(?=\s|$)/m.exec(sources.join('\n').replaceAll(/^#.*$/gm, ''))?.[0] ??
    'http://deb.debian.org/debian'
  )
}
