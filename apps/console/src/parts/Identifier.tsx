// An id that can be copied.
import { CopyButton, UnstyledButton } from '@mantine/core'

/** @param props `name` says what the id is of, for screen readers */
export function Identifier({ value, name }: { readonly value: string; readonly name: string }) {
  return (
    <span className="identifier">
      <code>{value}</code>
      <CopyButton value={value}>
        {({ copied, copy }) => (
          <UnstyledButton className="copy" onClick={copy} aria-label={copied ? `${name} copied` : `Copy ${name}`}>
            {copied ? 'copied' : 'copy'}
          </UnstyledButton>
        )}
      </CopyButton>
    </span>
  )
}
