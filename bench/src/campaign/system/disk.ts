// A disk of its own for Postgres, which can be filled. Needs Linux and root, to mount it.
import { execFile } from 'node:child_process'
import { mkdir, open, rm, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)
const diskBytes = 8 * 2 ** 30

export type Disk = {
  readonly directory: string
  /** Uses up all free space, until `free`. */
  fill(): Promise<void>
  free(): Promise<void>
}

export const canMountDisk = process.platform === 'linux' && process.getuid?.() === 0

/** Creates an empty disk inside the directory. @param stack unmounts it */
export async function mountDisk(stack: AsyncDisposableStack, home: string): Promise<Disk> {
  const [image, directory] = [join(home, 'disk.image'), join(home, 'disk')]
  const file = await open(image, 'w')
  await file.truncate(diskBytes)
  await file.close()
  await run('mkfs.ext4', ['-q', '-m', '0', image])
  await mkdir(directory)
  await run('mount', ['-o', 'loop', image, directory])
  stack.defer(async () => void (await run('umount', ['--lazy', directory])))
  const filling = join(directory, 'filling')
  return {
    directory,
    async fill() {
      // Twice: the first time leaves what rounding and the file's own blocks need.
      for (let part = 1; part <= 2; part++) {
        const { bavail, bsize } = await statfs(directory)
        if (bavail > 0) await run('fallocate', ['-l', String(bavail * bsize), `${filling}-${part}`]).catch(() => {})
      }
    },
    async free() {
      for (let part = 1; part <= 2; part++) await rm(`${filling}-${part}`, { force: true })
    },
  }
}
