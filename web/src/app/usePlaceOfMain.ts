import { type RefObject, useEffect } from 'react';
import { keepPlace, readPlace } from '../lib/place';

const name = 'scroll of the page';
const restMs = 100;
const framesMax = 60; // for the page to be drawn before its place can be found again

// A page begins at its top, and where it was left when Back leads to it. What its address names has shown itself already.
export function usePlaceOfMain(main: RefObject<HTMLElement | null>, path: string): void {
  useEffect(() => {
    const element = main.current!;
    const wanted = readPlace(name, 0);
    let frames = 0;
    let frame = 0;
    const find = (): void => {
      element.scrollTop = wanted;
      frames += 1;
      if (Math.abs(element.scrollTop - wanted) > 1 && frames < framesMax) frame = requestAnimationFrame(find);
    };
    const isShown = wanted === 0 && document.getElementById(location.hash.slice(1)) !== null;
    if (!isShown) find();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const onScroll = (): void => {
      clearTimeout(timer);
      timer = setTimeout(() => keepPlace(name, element.scrollTop), restMs);
    };
    element.addEventListener('scroll', onScroll);
    return () => {
      cancelAnimationFrame(frame);
      clearTimeout(timer);
      element.removeEventListener('scroll', onScroll);
    };
  }, [main, path]);
}
