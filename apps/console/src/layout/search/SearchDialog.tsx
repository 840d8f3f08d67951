// The search over the whole console, opened by `/` and Ctrl-K: pages by name, and what an id, an e-mail or words lead to.
import { Modal } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useNavigate } from '@tanstack/react-router'
import { type KeyboardEvent, useEffect, useId, useState } from 'react'
import { Icon } from '../../parts/Icon.tsx'
import type { Hit } from './hits.ts'
import { useHits } from './useHits.ts'

export type SearchDialogState = { readonly isOpen: boolean; readonly open: () => void; readonly close: () => void }

const isTyping = (target: EventTarget | null) =>
  target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName))

/** The state of the search, and its keys. They do nothing while another dialog is open. */
export function useSearchDialog(): SearchDialogState {
  const [isOpen, { open, close }] = useDisclosure(false)
  useEffect(() => {
    const onKey = (event: globalThis.KeyboardEvent) => {
      const isShortcut = event.key === 'k' && (event.ctrlKey || event.metaKey)
      const isSlash = event.key === '/' && !isTyping(event.target) && !event.ctrlKey && !event.metaKey && !event.altKey
      if ((!isShortcut && !isSlash) || document.querySelector('[role="dialog"]') !== null) return
      event.preventDefault()
      open()
    }
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  }, [open])
  return { isOpen, open, close }
}

export function SearchDialog({ isOpen, close }: SearchDialogState) {
  return (
    <Modal.Root opened={isOpen} onClose={close} padding={0} size={560} yOffset="12vh" transitionProps={{ duration: 0 }}>
      <Modal.Overlay />
      <Modal.Content aria-label="Search">
        <Modal.Body>{isOpen && <SearchBox close={close} />}</Modal.Body>
      </Modal.Content>
    </Modal.Root>
  )
}

function SearchBox({ close }: { readonly close: () => void }) {
  const [text, setText] = useState('')
  const [at, setAt] = useState(0)
  const { hits, isSearching } = useHits(text.trim())
  const navigate = useNavigate()
  const id = useId()
  const chosen = Math.min(at, hits.length - 1)
  const go = (hit: Hit | undefined) => {
    if (hit === undefined) return
    close()
    void navigate(hit.link)
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step !== undefined && hits.length > 0) setAt((chosen + step + hits.length) % hits.length)
    else if (event.key === 'Enter') go(hits[chosen])
    else return
    event.preventDefault()
  }
  return (
    <div className="searchBox">
      <div className="searchLine">
        <Icon name="search" size={18} />
        <input
          data-autofocus
          type="text"
          role="combobox"
          aria-label="Page, id, e-mail or words of a payment"
          aria-expanded="true"
          aria-controls={id}
          aria-activedescendant={hits.length > 0 ? `${id}-${chosen}` : undefined}
          aria-autocomplete="list"
          placeholder="Page, id, e-mail or words of a payment"
          autoComplete="off"
          spellCheck={false}
          maxLength={255}
          value={text}
          onChange={({ currentTarget }) => {
            setText(currentTarget.value)
            setAt(0)
          }}
          onKeyDown={onKeyDown}
        />
        <span className="keyHint">Esc</span>
      </div>
      <div className="searchHits" role="listbox" id={id} aria-label="Results" aria-busy={isSearching}>
        {hits.map((hit, index) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the keys are those of the field.
          // biome-ignore lint/a11y/useFocusableInteractive: the focus stays in the field, as in every combobox.
          <div
            key={hit.key}
            id={`${id}-${index}`}
            role="option"
            className="searchHit"
            aria-selected={index === chosen}
            ref={(element) => {
              if (index === chosen) element?.scrollIntoView({ block: 'nearest' })
            }}
            onMouseMove={() => setAt(index)}
            onClick={() => go(hit)}
          >
            <Icon name={hit.icon} />
            <span className="searchHitText">{hit.label}</span>
            <span className="hint">{hit.kind}</span>
          </div>
        ))}
      </div>
      <p className="searchState hint" aria-live="polite">
        {stateText(text.trim(), hits.length, isSearching)}
      </p>
    </div>
  )
}

function stateText(text: string, count: number, isSearching: boolean): string {
  if (isSearching) return 'Searching…'
  if (text === '') return 'An id finds by its first 13 characters; an e-mail address only as a whole.'
  return count === 1 ? '1 result' : `${count} results`
}
