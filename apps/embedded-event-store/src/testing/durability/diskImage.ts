// A disk image, and copies of it as after a power failure. Needs Linux and root.
import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, open, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Test } from 'tap'

const run = promisify(execFile)
const imageBytes = 1 << 30
/** Longer than the test, so that only a sync writes data to the disk. */
const commitSeconds = 60

export type Disk = {
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

/** Creates an empty disk that is removed with the test. */
export async function createDisk(t: Test): Promise<Disk> {
  const home = await mkdtemp(join(tmpdir(), 'paylog-disk-'))
  t.teardown(() => rm(home, { recursive: true, force: true }))
  const image = join(home, 'image')
  const file = await open(image, 'w')
  await file.truncate(imageBytes)
  await file.close()
  await run('mkfs.ext4', ['-q', image])
  return mountDisk(t, home, image)
}

async function mountDisk(t: Test, home: string, image: string): Promise<Disk> {
  const directory = `${image}.mounted`
  await mkdir(directory)
  await run('mount', ['-t', 'ext4', '-o', `loop,commit=${commitSeconds}`, image, directory])
  t.teardown(() => run('umount', [directory]))
  let copies = 0
  return {
    directory,
    async sync() {
      await run('sync', ['--file-system', directory])
    },
    async copy() {
      copies += 1
      const copy = join(home, `copy-${copies}`)
      await run('cp', ['--sparse=always', image, copy])
      return mountDisk(t, home, copy)
    },
  }
}
