// A disk image, and copies of it as after a power failure. Needs Linux and root.
import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, open, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)
const usualBytes = 2 * 2 ** 30
/** Longer than the work between two copies, so that only a sync writes data to the disk. */
const commitSeconds = 60

export type Disk = AsyncDisposable & {
  /** The mount point. */
  readonly directory: string
  /** Syncs everything to the disk. */
  sync(): Promise<void>
  /**
   * Copies the content of the disk itself, without data that is only in memory, and mounts the copy. Processes that
   * write to the disk must be frozen meanwhile.
   */
  copy(): Promise<Disk>
}

export const canMountDisk = process.platform === 'linux' && process.getuid?.() === 0

/** Creates an empty disk. @param bytes it occupies only what is written to it */
export async function createDisk(bytes = usualBytes): Promise<Disk> {
  const home = await mkdtemp(join(tmpdir(), 'paylog-disk-'))
  const image = join(home, 'image')
  const file = await open(image, 'w')
  await file.truncate(bytes)
  await file.close()
  await run('mkfs.ext4', ['-q', image])
  return mountDisk(home)
}

async function mountDisk(home: string): Promise<Disk> {
  const [image, directory] = [join(home, 'image'), join(home, 'mounted')]
  await mkdir(directory)
  await run('mount', ['-t', 'ext4', '-o', `loop,commit=${commitSeconds}`, image, directory])
  return {
    directory,
    async sync() {
      await run('sync', ['--file-system', directory])
    },
    async copy() {
      const copy = await mkdtemp(join(tmpdir(), 'paylog-disk-'))
      await run('cp', ['--sparse=always', image, join(copy, 'image')])
      return mountDisk(copy)
    },
    async [Symbol.asyncDispose]() {
      await run('umount', ['--lazy', directory])
      await rm(home, { recursive: true, force: true })
    },
  }
}
