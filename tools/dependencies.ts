// The dependencies of the project, from its lock file.
import { readLockFile } from './lockFile.ts'

const own = '@paylog/'

/** By place in the tree: workspaces by their folder, others by the folder they are installed in. */
type Packages = Readonly<Record<string, LockedPackage>>
type LockedPackage = {
  readonly version?: string
  readonly license?: string
  /** The folder of a workspace, for its link in node_modules. */
  readonly link?: boolean
  readonly resolved?: string
  readonly dependencies?: Readonly<Record<string, string>>
  readonly devDependencies?: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
}

export type Dependencies = {
  /** Licences by name of what the apps and their workspaces depend on in production. */
  readonly production: ReadonlyMap<string, string>
  /** Licences by name of the other direct dependencies. */
  readonly development: ReadonlyMap<string, string>
  /** Names by licence of everything that runs in production. */
  readonly productionLicences: ReadonlyMap<string, readonly string[]>
}

export async function readDependencies(): Promise<Dependencies> {
  const packages: Packages = (await readLockFile()).packages
  const workspaces = Object.keys(packages).filter(isWorkspace)
  const running = runningPlaces(packages)
  const licence = (place: string, name: string) => packages[resolve(packages, place, name) ?? '']?.license ?? 'unknown'
  const externalOf = (place: string, names: readonly string[]) =>
    names.filter((name) => !name.startsWith(own)).map((name) => [name, licence(place, name)] as const)
  const production = new Map(
    [...running].filter(isWorkspace).flatMap((place) => externalOf(place, namesIn(packages[place]?.dependencies))),
  )
  const direct = workspaces.flatMap((place) => {
    const { dependencies, devDependencies } = packages[place] ?? {}
    return externalOf(place, [...namesIn(dependencies), ...namesIn(devDependencies)])
  })
  return {
    production: sorted(production),
    development: sorted(direct.filter(([name]) => !production.has(name))),
    productionLicences: byLicence(packages, running),
  }
}

/** The apps and everything they need in production, workspaces included. */
function runningPlaces(packages: Packages): ReadonlySet<string> {
  const found = new Set(Object.keys(packages).filter((place) => isWorkspace(place) && place.startsWith('apps/')))
  // A Set also visits what is added during the loop.
  for (const place of found) for (const needed of neededPlaces(packages, place)) found.add(needed)
  return found
}

function neededPlaces(packages: Packages, place: string): string[] {
  const { dependencies, optionalDependencies } = packages[place] ?? {}
  const names = [...namesIn(dependencies), ...namesIn(optionalDependencies)]
  return [...new Set(names)].flatMap((name) => resolve(packages, place, name) ?? [])
}

/** Packages of other platforms are not installed here, so the lock file has no licence for them. */
function byLicence(packages: Packages, places: ReadonlySet<string>): ReadonlyMap<string, readonly string[]> {
  const licensed = [...places].filter((place) => !isWorkspace(place) && packages[place]?.license !== undefined)
  const groups = Map.groupBy(licensed, (place) => packages[place]?.license ?? '')
  return sorted([...groups].map(([licence, group]) => [licence, [...new Set(group.map(nameOf))].sort()]))
}

/** Resolves a package from a place in the lock file as Node does. Workspace links are followed. */
function resolve(packages: Packages, from: string, name: string): string | undefined {
  for (let place = from; ; place = place.slice(0, Math.max(place.lastIndexOf('/'), 0))) {
    const path = `${place === '' ? '' : `${place}/`}node_modules/${name}`
    const known = packages[path]
    if (known !== undefined) return known.link ? known.resolved : path
    if (place === '') return undefined
  }
}

const nameOf = (place: string) => place.split('node_modules/').at(-1) ?? ''
const isWorkspace = (place: string) => !place.includes('node_modules/')
const namesIn = (versions: Readonly<Record<string, string>> = {}) => Object.keys(versions)
const sorted = <Value>(entries: Iterable<readonly [string, Value]>): Map<string, Value> => new Map([...entries].sort())
