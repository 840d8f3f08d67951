// Whether a process is there.

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    // Another user's process is alive, too.
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}
